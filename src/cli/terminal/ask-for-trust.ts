import type { TrustReport } from '../../project/trust/trust.ts';
import { UserError } from '../../lib/error.ts';
import type { CommandContext } from '../command.ts';
import { promptUser } from './prompt.ts';
import { showsAllNew, trustLines } from './trust-text.ts';

/**
 * Shows a person what the project would do and asks. Leaving the prompt means no, and so does a
 * list that is cut.
 */
export async function askForTrust(report: TrustReport, context: CommandContext): Promise<boolean> {
  context.progress.clear();
  context.printNote(trustLines(report, context.screen).join('\n'));
  if (!showsAllNew(report)) {
    context.printNote(
      `The list is too long to be read here, so ktx does not ask. ktx trust --show --json prints all of it, and ktx trust --yes approves it.`,
    );
    return false;
  }
  const { signal } = context;
  const message = 'Do you know this project, and may it do this on this machine?';
  try {
    const answer = await promptUser(context, async ({ confirm }) => {
      const choice = await confirm({ message, initialValue: false, signal });
      return typeof choice === 'symbol' ? choice : String(choice);
    });
    return answer === 'true';
  } catch (error) {
    if (error instanceof UserError && error.code === 'interrupted') return false;
    throw error;
  }
}
