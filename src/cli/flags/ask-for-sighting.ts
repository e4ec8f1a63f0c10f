import { lookForData } from '../../project/setup/look-around.ts';
import type { CommandContext } from '../command.ts';
import { promptForFlag } from '../terminal/prompt.ts';
import { escapeControls } from '../terminal/text-width.ts';
import type { FlagSettings } from './schema-flags.ts';

/** A list of more is no help. */
const mostSightings = 10;

/**
 * Asks a person which of the things in the folder to connect to. The flags that stand for the
 * answer; none if there is nothing, or if it is something else.
 */
export async function askForSighting(dir: string, context: CommandContext): Promise<FlagSettings> {
  const { host, screen, signal } = context;
  if (!screen.interactive) return {};
  const sightings = lookForData(dir, host.env)
    .filter(({ flags }) => flags !== undefined)
    .slice(0, mostSightings);
  if (sightings.length === 0) return {};
  const options = [
    ...sightings.map(({ where, what }, index) => ({
      value: String(index),
      label: escapeControls(where),
      hint: escapeControls(what),
    })),
    { value: 'other', label: 'Something else' },
  ];
  const chosen = await promptForFlag('--driver', context, ({ select }) =>
    select({ message: 'What do you want to connect to?', options, signal }),
  );
  return sightings[Number(chosen)]?.flags ?? {};
}
