import type { ExitCode } from '../../lib/error.ts';

export const outcomes = ['pass', 'fail', 'error', 'timeout', 'skipped', 'inconclusive'] as const;
export type Outcome = (typeof outcomes)[number];

/** What a grader found, and in words why. */
export interface Finding {
  readonly grader: string;
  readonly outcome: Outcome;
  readonly found: string;
  /** Rows that tell a difference: for the screen of who asked, and for nothing that is kept or sent. */
  readonly nearest?: string | undefined;
}

/** What is certain comes first: a wrong answer is one, whatever else could not be said. */
const gravest: readonly Outcome[] = ['fail', 'timeout', 'error', 'inconclusive', 'pass', 'skipped'];

/** Of several findings, turns or attempts. */
export function worstOf(some: readonly Outcome[]): Outcome {
  return gravest.find((outcome) => some.includes(outcome)) ?? 'skipped';
}

/** 0: all that was asked passed. 1: something failed. 3: nothing failed, but of something nothing can be said. */
export function exitCodeOf(some: readonly Outcome[]): ExitCode {
  if (some.some((outcome) => outcome === 'fail' || outcome === 'timeout')) return 1;
  return some.some((outcome) => outcome === 'error' || outcome === 'inconclusive') ? 3 : 0;
}
