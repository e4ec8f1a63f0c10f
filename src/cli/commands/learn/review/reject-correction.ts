import { UserError } from '../../../../lib/error.ts';
import type { Project } from '../../../../project/open/open.ts';
import type { ProposedCorrection } from '../../../../project/review/corrections.ts';
import type { CommandContext, CommandResult } from '../../../command.ts';
import { proposeReview } from './propose-review.ts';

/** Removes the note of an agent whose words a person did not accept. */
export async function rejectCorrection(
  project: Project,
  correction: ProposedCorrection,
  context: CommandContext,
): Promise<CommandResult> {
  if (project.proposes === true) {
    const proposal = { kind: 'forget', note: correction.note } as const;
    return proposeReview(project, { proposal, says: `${correction.subject}: rejected` }, context);
  }
  const { forgetNote } = await import('../../../../project/learn/notes.ts');
  const note = await forgetNote(project, correction.note, context);
  const { uncommitted } = note;
  return {
    data: { note },
    text: `${correction.subject}: rejected; note ${note.id} is gone`,
    notes: uncommitted === undefined ? [] : [`no commit: ${uncommitted}`],
  };
}

/** A rejected correction is a note that is gone: nothing that a commit with others could undo. */
export function correctionAmongOthers(named: string): UserError {
  return new UserError('correction_alone', `${named} is a correction: reject it by itself.`, {
    hint: `ktx review reject ${named}`,
    exitCode: 2,
  });
}
