import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { groundAnswer } from '../ground-answer.ts';

const mostReasons = 5;

/**
 * Why the citations of an answer are wrong: a query that does not exist, or a number that another
 * query has than the one that is cited for it. Undefined if nothing is.
 */
export function wrongCitations(
  text: string,
  question: string,
  evidence: readonly QueryEvidence[],
): string | undefined {
  const reasons = groundAnswer({ text, question, evidence }).flatMap(
    ({ kind, text: said, reason = '' }) =>
      kind === 'citation' || reason.endsWith('which is not cited for it')
        ? [`${said}: ${reason}`]
        : [],
  );
  return reasons.length === 0 ? undefined : reasons.slice(0, mostReasons).join('\n');
}
