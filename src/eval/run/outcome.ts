import type { ExitCode } from '../../lib/error.ts';

export const outcomes = [
  'pass',
  'weak',
  'fail',
  'error',
  'timeout',
  'skipped',
  'inconclusive',
] as const;
export type EvalOutcome = (typeof outcomes)[number];

/** The result of one grader. */
export interface GraderFinding {
  readonly grader: string;
  readonly outcome: EvalOutcome;
  /** What the grader found, as a phrase: the reason for the outcome. */
  readonly found: string;
  /**
   * Example rows that show the difference. Only for the screen of the person who asked: never
   * stored or sent.
   */
  readonly nearest?: string | undefined;
  /** Id of the query that has the golden rows. */
  readonly query?: string | undefined;
}

/** A wrong answer is certain, so it outweighs what could not be decided. */
const worstFirst: readonly EvalOutcome[] = [
  'fail',
  'timeout',
  'error',
  'inconclusive',
  'weak',
  'pass',
  'skipped',
];

/** The outcome of several findings, turns or attempts together; `skipped` if there are none. */
export function worstOutcome(all: readonly EvalOutcome[]): EvalOutcome {
  return worstFirst.find((outcome) => all.includes(outcome)) ?? 'skipped';
}

/**
 * 0: everything that was asked passed, or is equal but shows little. 1: something failed. 3:
 * nothing failed, but some cases could not be decided.
 */
export function evalExitCode(all: readonly EvalOutcome[]): ExitCode {
  if (all.some((outcome) => outcome === 'fail' || outcome === 'timeout')) return 1;
  return all.some((outcome) => outcome === 'error' || outcome === 'inconclusive') ? 3 : 0;
}
