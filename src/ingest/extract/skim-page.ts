import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { readPrompt } from '../../llm/prompt.ts';
import type { IngestModel } from '../model.ts';
import type { ProposalsSession } from './proposals-session.ts';
import { pictureOf } from './show-items.ts';
import { ruleSchema, termSchema } from './proposal-schemas.ts';
import { proposeRule, proposeTerm } from './propose-claims.ts';
import type { WorkUnit } from './work-units.ts';

const answerSchema = z.object({
  terms: z.array(termSchema.omit({ item: true })).describe('What words of the business mean.'),
  rules: z
    .array(ruleSchema.omit({ item: true }))
    .describe('What always holds, or has to be done, with the data.'),
});

/** A few claims of one page in one call; false where some did not hold, so that the page deserves a full reading. */
export async function readLightly(
  unit: WorkUnit,
  session: ProposalsSession,
  { runtime }: IngestModel,
): Promise<boolean> {
  const answer = await runtime.generateObject({
    role: 'triage',
    system: readPrompt('extract-light'),
    prompt: `The page to read:\n${pictureOf(unit)}`,
    schema: answerSchema,
    signal: session.signal,
  });
  const item = session.list()[0]?.path ?? '';
  const proposals = [
    ...answer.terms.map((term) => () => proposeTerm(session, { ...term, item })),
    ...answer.rules.map((rule) => () => proposeRule(session, { ...rule, item })),
  ];
  return proposals.every(holds);
}

function holds(propose: () => string): boolean {
  try {
    propose();
    return true;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return false;
  }
}
