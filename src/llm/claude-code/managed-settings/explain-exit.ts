import { LlmError } from '../../port/error.ts';
import { type ManagedPlaces, readManagedSettings } from './read-managed-settings.ts';

/** `words`: what a program wrote before it ended instead of starting. */
export type ExplainExit = (words: string) => Promise<LlmError | undefined>;

/**
 * The error when a program ended at once on a machine whose managed settings have rules about the
 * login or the version. It quotes the program, because only the program knows which rule it met.
 * Undefined if there are no such rules.
 */
export async function exitError(
  places: ManagedPlaces,
  words: string,
): Promise<LlmError | undefined> {
  const { rules } = await readManagedSettings(places);
  if (rules.length === 0 || words === '') return undefined;
  const list = rules.map(({ file, key, effect }) => `${key} in ${file} ${effect}`).join('; ');
  return new LlmError('auth', `Claude Code refused to start: ${words} (${list})`, {
    hint: 'Log in with the account that your organization requires (claude auth login), or update Claude Code (claude update). Then run the command again.',
  });
}
