import { UserError } from '../../../lib/error.ts';
import { isSecretReference } from '../../../store/secrets.ts';
import { driverNamed, type WarehouseConfig } from '../../../warehouse/config.ts';
import { schemaFlags } from '../../flags/schema-flags.ts';
import type { CommandContext } from '../../command.ts';
import { promptForFlag, requireAnswer, retryPrompts } from '../../terminal/prompt.ts';

export interface WarehouseToConnect {
  readonly dir: string;
  readonly name: string;
  readonly config: WarehouseConfig;
}

/** True if the server refused a login for which nobody has given a password. */
export function needsPassword(
  error: unknown,
  config: WarehouseConfig,
  { screen }: CommandContext,
): boolean {
  const isRefused = error instanceof UserError && error.code === 'warehouse_auth';
  if (!isRefused || !screen.interactive || 'path' in config) return false;
  const { password, url = '' } = config as { readonly password?: string; readonly url?: string };
  return takesPassword(config) && password === undefined && !isSecretReference(url);
}

function takesPassword({ driver }: WarehouseConfig): boolean {
  return schemaFlags(driverNamed(driver).config).some(({ key }) => key === 'password');
}

/** Stands for the password that is tried. */
const unkept = 'env:TYPED_PASSWORD';

/**
 * Asks for the password without showing it, tries it, and keeps it where the person wants. Returns
 * the settings with a reference to it. Asks again until the server takes it.
 */
export async function askForPassword(
  { dir, name, config }: WarehouseToConnect,
  context: CommandContext,
): Promise<WarehouseConfig> {
  const { signal, host } = context;
  const { probeConnection } = await import('../../../project/setup/setup.ts');
  const secrets = await import('../../../project/setup/keep-secret.ts');
  const value = await retryPrompts(context, async () => {
    const typed = await promptForFlag('--password', context, ({ password }) =>
      password({ message: `Password for ${name}`, signal, validate: requireAnswer }),
    );
    context.progress.update(`connecting to ${name}`);
    const tried = { dir, name, config: { ...config, password: unkept } as WarehouseConfig };
    const secret = (asked: string): string => (asked === unkept ? typed : '');
    await probeConnection({ ...tried, secrets: secret }, signal);
    return typed;
  });
  const ownFile = { value: 'file', label: 'a file of your own, outside of the project' };
  const envFile = { value: 'env', label: 'the file .env of this project; git ignores it' };
  const options = (await secrets.isEnvFileInGit(dir)) ? [ownFile] : [envFile, ownFile];
  const place = await promptForFlag('--password', context, ({ select }) =>
    select({ message: 'Where shall ktx keep it? Only you can read it there.', options, signal }),
  );
  const kept = { dir, name, value };
  const keep = place === 'env' ? secrets.keepInEnvFile : secrets.keepInOwnFile;
  const password = await keep(kept, host.env);
  return { ...config, password } as WarehouseConfig;
}
