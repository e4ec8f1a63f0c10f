import type { VerifiedMark } from '../../project/verified/find-verified.ts';

/** One sentence for the summary of an answer. */
export function describeMark({ case: id, run, at }: VerifiedMark): string {
  return `A verified question: ${id} passed in ${run} on ${at.slice(0, 10)}, and nothing that it uses has changed since.`;
}
