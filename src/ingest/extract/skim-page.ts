import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { noValues } from '../../llm/egress/sent-values.ts';
import { readPrompt } from '../../llm/prompt.ts';
import type { IngestModel } from '../model.ts';
import { proposedRuleSchema, proposedTermSchema } from './proposals/proposal-schemas.ts';
import type { ProposalsSession } from './proposals/proposals-session.ts';
import { proposeRule, proposeTerm } from './proposals/propose-claims.ts';
import { showItems } from './show-items.ts';
import type { WorkUnit } from './work-units.ts';

const skimmedPageSchema = z.object({
  terms: z
    .array(proposedTermSchema.omit({ item: true }))
    .describe('What words of the business mean.'),
  rules: z
    .array(proposedRuleSchema.omit({ item: true }))
    .describe('What always holds, or has to be done, with the data.'),
});

/**
 * Reads a unit of one page in one call. False if a proposal was refused; then the page deserves a
 * full reading.
 */
export async function skimPage(
  unit: WorkUnit,
  session: ProposalsSession,
  { runtime }: IngestModel,
): Promise<boolean> {
  const { terms, rules } = await runtime.generateObject({
    role: 'triage',
    stage: 'light',
    values: noValues,
    system: readPrompt('extract-light'),
    prompt: `The page to read:\n${showItems(unit)}`,
    schema: skimmedPageSchema,
    signal: session.signal,
  });
  const item = session.list()[0]?.path ?? '';
  const proposals = [
    ...terms.map((term) => () => proposeTerm(session, { ...term, item })),
    ...rules.map((rule) => () => proposeRule(session, { ...rule, item })),
  ];
  return proposals.every(isAccepted);
}

function isAccepted(propose: () => string): boolean {
  try {
    propose();
    return true;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return false;
  }
}
