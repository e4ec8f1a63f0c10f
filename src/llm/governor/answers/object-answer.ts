import type { z } from 'zod';
import { checkSchema } from '../../../lib/schema-check.ts';
import { untrustedBlock } from '../../../lib/untrusted.ts';
import { LlmError } from '../../port/error.ts';

/** How often the model is asked for an object, the same for every backend. */
const maxObjectTries = 3;

/** Asks until the object fits its schema. `ask` gets the prompt and returns what the model gave. */
export async function askForObject<T>(
  schema: z.ZodType<T>,
  prompt: string,
  ask: (prompt: string) => Promise<unknown>,
): Promise<T> {
  let problem = '';
  for (let tries = 0; tries < maxObjectTries; tries += 1) {
    const object = await ask(problem === '' ? prompt : correctionPrompt(prompt, problem));
    const parsed = parseObject(schema, object);
    if (parsed.problem === undefined) return parsed.data;
    problem = parsed.problem;
  }
  throw new LlmError('invalid_output', problem);
}

type ParsedObject<T> =
  | { readonly data: T; readonly problem?: undefined }
  | { readonly data?: undefined; readonly problem: string };

function parseObject<T>(schema: z.ZodType<T>, value: unknown): ParsedObject<T> {
  if (value === undefined)
    return { problem: 'The model answered without the object that it was asked for.' };
  const { data, problems } = checkSchema(schema, value);
  if (problems === undefined) return { data };
  const lines = problems
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'object'}: ${message}`);
  return { problem: `The model's object does not fit its schema: ${lines.join('; ')}.` };
}

/** The problem is marked as data: it may quote the answer, which may quote the warehouse. */
function correctionPrompt(prompt: string, problem: string): string {
  const instruction =
    'Your last answer to this was refused for the reason between the marks. Answer again, with a complete object that fits.';
  return `${prompt}\n\n${instruction}\n${untrustedBlock('refusal', problem)}`;
}
