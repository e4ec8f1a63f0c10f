import { type ExtraName, extras } from '../../../../store/extras/extra-list.ts';
import { installExtra } from '../../../../store/extras/install-extra.ts';
import { isAvailable } from '../../../../store/extras/require-extra.ts';
import type { CommandContext } from '../../../command.ts';
import { promptUser } from '../../../terminal/prompt.ts';

interface NeededExtra {
  readonly name: ExtraName;
  /** What cannot work without it, as a person calls it. */
  readonly by: string;
}

/**
 * Asks a person at a terminal whether to fetch the extra that a backend or a driver needs. Without
 * a terminal, or after a no, the first use fails with the command to type.
 */
export async function offerExtra(
  { name, by }: NeededExtra,
  context: CommandContext,
): Promise<void> {
  if (isAvailable(name) || !context.screen.interactive) return;
  const { signal } = context;
  context.progress.clear();
  const message = `${by} needs the extra ${name}, about ${extras[name].megabytes} MB. Fetch it now?`;
  const answer = await promptUser(context, async ({ confirm }) => {
    const choice = await confirm({ message, initialValue: true, signal });
    return typeof choice === 'symbol' ? choice : String(choice);
  });
  if (answer !== 'true') return;
  context.progress.update(`fetching ${name}`);
  const onWait = (text: string): void => context.progress.update(text);
  await installExtra(name, { signal, onWait });
}
