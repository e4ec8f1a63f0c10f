import type { EvalOutcome } from '../run/outcome.ts';

/** The character that stands for an outcome in the HTML report. */
export const outcomeMarks: Readonly<Record<EvalOutcome, string>> = {
  pass: '✓',
  weak: '≈',
  fail: '✗',
  timeout: 'T',
  error: '!',
  inconclusive: '?',
  skipped: '–',
};
