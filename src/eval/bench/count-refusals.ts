import type { EvalOptions } from '../run/run-evals.ts';
import { saysNoAnswer } from '../grade/refusal-phrases.ts';
import type { CaseResult } from '../run/run-schema.ts';
import { cannotAnswer } from '../../tools/cannot-answer.ts';

/** Who refuses gives no wrong number: that counts apart from wrong answers. */
export interface RefusalCounts {
  /** Attempts at questions that have an answer, and how many of them the agent refused. */
  readonly answerable: { readonly refused: number; readonly of: number };
  /** Attempts at questions that have none, and how many of them it refused. */
  readonly unanswerable: { readonly refused: number; readonly of: number };
}

export function countRefusals(
  cases: readonly CaseResult[],
  sets: EvalOptions['sets'],
): RefusalCounts {
  const unanswerable = new Set(
    sets.flatMap((set) =>
      set.cases.flatMap(({ id, turns }) =>
        turns.some(({ expect }) => expect?.refuses === true) ? [id] : [],
      ),
    ),
  );
  const countOf = (own: readonly CaseResult[]) => {
    const asked = own
      .flatMap(({ attempts }) => attempts)
      .filter(({ outcome }) => outcome !== 'error' && outcome !== 'skipped');
    return { refused: asked.filter(isRefused).length, of: asked.length };
  };
  return {
    answerable: countOf(cases.filter(({ id }) => !unanswerable.has(id))),
    unanswerable: countOf(cases.filter(({ id }) => unanswerable.has(id))),
  };
}

/** An attempt that passed as an answer is none, whatever words it has. */
function isRefused({ outcome, turns }: CaseResult['attempts'][number]): boolean {
  const last = turns.at(-1);
  if (last === undefined) return false;
  const isRight = outcome === 'pass' && !last.findings.some(({ grader }) => grader === 'refuses');
  const isRecorded = last.tools.some(({ name, ok }) => name === cannotAnswer.name && ok);
  return !isRight && (isRecorded || saysNoAnswer(last.answer));
}
