import type { Proposal } from '../../../../project/propose/change-record.ts';
import type { Project } from '../../../../project/open/open.ts';
import type { CommandContext, CommandResult } from '../../../command.ts';

interface ReviewProposal {
  readonly proposal: Extract<Proposal, { readonly kind: 'review' | 'forget' }>;
  /** One line, for the person. */
  readonly says: string;
}

/** What a person decided through a server whose folder stays as it is: as a request. */
export async function proposeReview(
  project: Project,
  { proposal, says }: ReviewProposal,
  { signal }: CommandContext,
): Promise<CommandResult> {
  const [{ proposeChange }, { loopTools }, { changeDetails, summarizeChange }] = await Promise.all([
    import('../../../../project/propose/propose-change.ts'),
    import('../../../../tools/loop-tools.ts'),
    import('../../../../tools/answers/describe-change.ts'),
  ]);
  const options = { signal, tools: loopTools(project), runId: project.runId };
  const change = await proposeChange(project, proposal, options);
  const details = changeDetails(change);
  return {
    data: { ...(proposal.kind === 'review' && { pins: proposal.pins }), change: details },
    text: [says, summarizeChange(change), details.request ?? ''].join('\n').trim(),
    exitCode: change.state === 'kept' ? 3 : 0,
  };
}
