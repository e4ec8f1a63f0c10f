import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { UserError } from '../lib/error.ts';
import type { RanCall } from './answer-call.ts';
import type { Caller } from './caller.ts';

const codes: ReadonlySet<string> = new Set(['ambiguous_name', 'ambiguous_path']);

/** What a name of a call may mean. */
const questionSchema = z.object({ written: z.string(), choices: z.array(z.string()).min(2) });
type ChoiceQuestion = z.infer<typeof questionSchema>;

/** What the client keeps while it asks. It is sealed, so it is as ktx wrote it. */
const stateSchema = z.object({
  chosen: z.array(z.tuple([z.string(), z.string()])),
  /** Undefined if something else was asked. */
  question: questionSchema.optional(),
});

export interface ReadChoices {
  /** The meanings that the user chose so far, by what was written. */
  readonly chosen: readonly (readonly [string, string])[];
  /** False if the user does not want to choose. */
  readonly mayAsk: boolean;
}

/** What the user of the client has chosen in the rounds of a call before this one. */
export function readChoices({ mcpReq }: ServerContext): ReadChoices {
  const state = stateSchema.safeParse(mcpReq.requestState());
  if (!state.success) return { chosen: [], mayAsk: true };
  const { chosen, question } = state.data;
  if (question === undefined) return { chosen, mayAsk: true };
  const answer = z
    .object({ action: z.literal('accept'), content: z.object({ meaning: z.string() }) })
    .safeParse(mcpReq.inputResponses?.['meaning']);
  const meaning = answer.data?.content.meaning;
  if (meaning === undefined || !question.choices.includes(meaning))
    return { chosen, mayAsk: false };
  return { chosen: [...chosen, [question.written, meaning]], mayAsk: true };
}

/** The input with each name that was chosen in the place of what was written. */
export function withChoices<Input>(input: Input, chosen: ReadChoices['chosen']): Input {
  return chosen.reduce(
    (changed, [written, meaning]) =>
      mapNames(changed, (name) => replaceName(name, { written, meaning })),
    input,
  );
}

interface AskedChoice {
  readonly caller: Pick<Caller, 'states'>;
  readonly server: Pick<Server, 'getClientCapabilities'>;
  readonly context: ServerContext;
  readonly choices: ReadChoices;
  readonly input: unknown;
}

/**
 * Runs a call. If a name in it is ambiguous and the client can ask its user, the answer is the
 * question; the client then repeats the call with what the user chose. For a client of 2025 the SDK
 * asks and repeats.
 */
export async function askIfAmbiguous(
  { caller, server, context, choices, input }: AskedChoice,
  run: () => Promise<RanCall>,
): Promise<RanCall> {
  const ran = await run();
  const question = ran.error && questionOf(ran.error, input);
  if (question === undefined || !choices.mayAsk || !canAsk(server, context)) return ran;
  const { written, choices: meanings } = question;
  const meaning = inputRequired.elicit({
    message: `${JSON.stringify(written)} can mean ${meanings.length} things. Which one?`,
    requestedSchema: {
      type: 'object',
      properties: { meaning: { type: 'string', title: written, enum: meanings } },
      required: ['meaning'],
    },
  });
  const requestState = await caller.states.mint({ chosen: choices.chosen, question });
  return { ...ran, result: inputRequired({ inputRequests: { meaning }, requestState }) };
}

/** Undefined if no choice could take the place of a text of the input. */
function questionOf({ code, details }: UserError, input: unknown): ChoiceQuestion | undefined {
  const { data } = questionSchema.safeParse(details);
  if (!codes.has(code) || data === undefined) return undefined;
  let isThere = false;
  mapNames(input, (text) => {
    isThere ||= replaceName(text, { written: data.written, meaning: '' }) !== text;
    return text;
  });
  return isThere ? data : undefined;
}

const capabilitiesSchema = z.object({
  elicitation: z.object({ form: z.unknown(), url: z.unknown() }).partial().optional(),
});

/** A client of 2026 says it with each request, one of 2025 once. */
export function canAsk(
  server: AskedChoice['server'],
  { mcpReq }: ServerContext,
  how: 'form' | 'url' = 'form',
): boolean {
  const envelope = z.record(z.string(), z.unknown()).safeParse(mcpReq.envelope).data ?? {};
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const { elicitation } = capabilitiesSchema.safeParse(declared).data ?? {};
  if (how === 'url') return elicitation?.url !== undefined;
  // A client that names no way to ask has forms.
  return (
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  );
}

/** Changes a text that is the name, also with a grain behind it, and no text that contains it. */
function replaceName(
  text: string,
  { written, meaning }: { readonly written: string; readonly meaning: string },
): string {
  const [own, wanted] = [text.toLowerCase(), written.toLowerCase()];
  const isName =
    own === wanted || (own.startsWith(`${wanted}.`) && !/\W/.test(own.slice(wanted.length + 1)));
  return isName ? meaning + text.slice(written.length) : text;
}

/** The parts of a query that are nothing but names. Other texts may be values. */
const namesSchema = z.looseObject({
  metrics: z.array(z.unknown()).optional(),
  dimensions: z.array(z.unknown()).optional(),
});

/** The input with its names changed. */
function mapNames<Input>(input: Input, change: (name: string) => string): Input {
  const { data } = namesSchema.safeParse(input);
  if (data === undefined) return input;
  const changed = (['metrics', 'dimensions'] as const).flatMap((key) => {
    const names = data[key]?.map((name) => (typeof name === 'string' ? change(name) : name));
    return names === undefined ? [] : [[key, names]];
  });
  return { ...input, ...Object.fromEntries(changed) };
}
