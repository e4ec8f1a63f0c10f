import type { FoundProfile } from '../../project/setup/dbt-profile.ts';
import type { CommandContext } from '../command.ts';
import { usageError } from '../terminal/failure.ts';
import { connectionFlags } from './connection-flags.ts';
import type { FlagSettings } from './schema-flags.ts';

interface OptionTaker {
  option(flags: string, description: string): unknown;
}

/** Flags that take the settings of a connection from the profile of a dbt project. */
export function addDbtProfileFlags<C extends OptionTaker>(command: C): C {
  command.option(
    '--from-dbt <folder>',
    'take the connection from the profiles.yml of the dbt project in this folder; other flags overrule it',
  );
  command.option('--dbt-profile <name>', 'the profile (default: that of dbt_project.yml)');
  command.option('--dbt-target <name>', 'the target (default: that of the profile)');
  return command;
}

interface ConnectionPlace {
  readonly dir: string;
  readonly connection: string;
}

/**
 * The options with those that the profile gives, and the profile; the options alone without
 * `--from-dbt`.
 */
export async function withDbtProfile(
  options: FlagSettings,
  { dir, connection }: ConnectionPlace,
  { host: { env } }: CommandContext,
): Promise<{ readonly options: FlagSettings; readonly profile?: FoundProfile }> {
  const { fromDbt: folder, dbtProfile, dbtTarget } = options;
  if (typeof folder !== 'string') {
    if (dbtProfile === undefined && dbtTarget === undefined) return { options };
    throw usageError('--dbt-profile and --dbt-target need --from-dbt.', '--from-dbt <folder>');
  }
  const { readDbtProfile } = await import('../../project/setup/dbt-profile.ts');
  const profile = await readDbtProfile({
    dir,
    folder,
    profile: typeof dbtProfile === 'string' ? dbtProfile : undefined,
    target: typeof dbtTarget === 'string' ? dbtTarget : undefined,
    connection,
    env,
  });
  const given = connectionFlags().flatMap(({ key, option }) => {
    const value = profile.settings[key];
    return value === undefined ? [] : [[option.attributeName(), value] as const];
  });
  const own = Object.entries(options).filter(([, value]) => value !== undefined);
  return { options: { ...Object.fromEntries(given), ...Object.fromEntries(own) }, profile };
}

/** What was read, without any value of a secret. */
export function profileNotes({ file, notes }: FoundProfile): readonly string[] {
  return [`The connection is that of ${file}.`, ...notes];
}
