import type { ProposedChange } from '../../project/propose/propose-change.ts';

/** One line about what became of a proposal, written by ktx. */
export function summarizeChange({ state, id }: ProposedChange): string {
  if (state === 'open') return 'Proposed; it counts once the request is merged.';
  if (state === 'unchanged') return 'The project has this already; nothing is proposed.';
  return `Not proposed yet: the host of the repository did not take it. It is kept as ${id}.`;
}

/** What a caller gets to know of it. The words of the host are text from outside. */
export function changeDetails({ state, id, branch, request, problem }: ProposedChange) {
  const again = 'Make the same call again, or on the server: ktx mcp changes --send';
  const next = [problem?.next, again].filter((part) => part !== undefined).join(' ');
  return {
    change: id,
    state,
    branch,
    ...(request && { request: request.url }),
    ...(problem && { problem: `${problem.code}: ${problem.message}` }),
    ...(state === 'kept' && { next }),
  };
}
