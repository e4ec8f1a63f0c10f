import { type BackendName, extraOfBackend } from '../../../llm/backends.ts';
import { extras } from '../../../store/extras/extra-list.ts';
import { installExtra } from '../../../store/extras/install-extra.ts';
import { isAvailable } from '../../../store/extras/require-extra.ts';
import type { CommandContext } from '../../command.ts';
import { promptUser } from '../../terminal/prompt.ts';

/**
 * Asks a person at a terminal whether to fetch the extra of a backend. Without a terminal, or after
 * a no, the first call fails with the command to type.
 */
export async function offerExtra(backend: BackendName, context: CommandContext): Promise<void> {
  if (backend === 'none') return;
  const name = extraOfBackend(backend);
  if (isAvailable(name) || !context.screen.interactive) return;
  const { signal } = context;
  context.progress.clear();
  const message = `${backend} needs the extra ${name}, about ${extras[name].megabytes} MB. Fetch it now?`;
  const answer = await promptUser(context, async ({ confirm }) => {
    const choice = await confirm({ message, initialValue: true, signal });
    return typeof choice === 'symbol' ? choice : String(choice);
  });
  if (answer !== 'true') return;
  context.progress.update(`fetching ${name}`);
  await installExtra(name, signal);
}
