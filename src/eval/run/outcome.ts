import type { ExitCode } from '../../lib/error.ts';

export const outcomes = ['pass', 'fail', 'error', 'timeout', 'skipped', 'inconclusive'] as const;
export type EvalOutcome = (typeof outcomes)[number];

/** What a grader found, and in words why. */
export interface GraderFinding {
  readonly grader: string;
  readonly outcome: EvalOutcome;
  readonly found: string;
  /** ResultTable that tell a difference: for the screen of who asked, and for nothing that is kept or sent. */
  readonly nearest?: string | undefined;
}

/** What is certain comes first: a wrong answer is one, whatever else could not be said. */
const gravest: readonly EvalOutcome[] = [
  'fail',
  'timeout',
  'error',
  'inconclusive',
  'pass',
  'skipped',
];

/** Of several findings, turns or attempts. */
export function worstOutcome(some: readonly EvalOutcome[]): EvalOutcome {
  return gravest.find((outcome) => some.includes(outcome)) ?? 'skipped';
}

/** 0: all that was asked passed. 1: something failed. 3: nothing failed, but of something nothing can be said. */
export function evalExitCode(some: readonly EvalOutcome[]): ExitCode {
  if (some.some((outcome) => outcome === 'fail' || outcome === 'timeout')) return 1;
  return some.some((outcome) => outcome === 'error' || outcome === 'inconclusive') ? 3 : 0;
}
