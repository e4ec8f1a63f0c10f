import type { ProposedWarehouse } from '../../../../sources/source.ts';
import type { CommandContext } from '../../../command.ts';
import { promptUser } from '../../../terminal/prompt.ts';
import { escapeControls } from '../../../terminal/text-width.ts';

/**
 * Asks a person at a terminal about each part of a source that is in the same place as a warehouse.
 * Returns those that they confirm; none without a terminal.
 */
export async function confirmWarehouses(
  proposed: readonly ProposedWarehouse[],
  context: CommandContext,
): Promise<readonly ProposedWarehouse[]> {
  if (!context.screen.interactive) return [];
  const { signal } = context;
  const confirmed: ProposedWarehouse[] = [];
  context.progress.clear();
  for (const match of proposed) {
    const what = escapeControls(match.what);
    const message = `Is ${what} your connection ${match.connection}? Host and database are the same.`;
    const answer = await promptUser(context, async ({ confirm }) => {
      const choice = await confirm({ message, initialValue: true, signal });
      return typeof choice === 'symbol' ? choice : String(choice);
    });
    if (answer === 'true') confirmed.push(match);
  }
  return confirmed;
}

/** How to confirm what nobody was asked about, or said no to. */
export function proposalNotes(proposed: readonly ProposedWarehouse[]): readonly string[] {
  return proposed.map(
    ({ setting, key, connection, what }) =>
      `${what} is where ${connection} is (same host and database): write ${setting}: {"${key}": ${connection}} into ktx.yaml if it is the same`,
  );
}
