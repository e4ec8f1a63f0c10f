import { UserError } from '../../../../lib/error.ts';
import type { Keychain } from '../../../../store/keychain.ts';
import { isSecretReference } from '../../../../store/secrets.ts';
import type { FoundProfile } from '../../../../project/setup/dbt-profile.ts';
import { driverNamed, type WarehouseConfig } from '../../../../warehouse/config.ts';
import { passwordPlaces, type PasswordPlace } from '../../../flags/password-flag.ts';
import { schemaFlags } from '../../../flags/schema-flags.ts';
import type { CommandContext } from '../../../command.ts';
import { promptForFlag, requireAnswer, retryPrompts } from '../../../terminal/prompt.ts';

export interface WarehouseToConnect {
  readonly dir: string;
  readonly name: string;
  readonly config: WarehouseConfig;
  /** Where to keep a password that is typed. Undefined asks. */
  readonly keepPassword?: PasswordPlace | undefined;
  /** The profile of dbt that has the connection; its password is not in `ktx.yaml`. */
  readonly profile?: Pick<FoundProfile, 'password' | 'schema'> | undefined;
}

/**
 * True if the server refused a login for which nobody has given a password, or if the password of a
 * profile stands in no variable.
 */
export function needsPassword(
  error: unknown,
  { config, profile }: WarehouseToConnect,
  { screen }: CommandContext,
): boolean {
  if (!(error instanceof UserError) || !screen.interactive || 'path' in config) return false;
  if (error.code === 'secret_missing') return profile !== undefined && takesPassword(config);
  if (error.code !== 'warehouse_auth') return false;
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
 * the settings with a reference to it, and the files of the project that have changed. Asks again
 * until the server takes it.
 */
export async function askForPassword(
  { dir, name, config, keepPassword: place, profile }: WarehouseToConnect,
  context: CommandContext,
): Promise<{ readonly config: WarehouseConfig; readonly written: readonly string[] }> {
  const { signal } = context;
  const { probeConnection } = await import('../../../../project/setup/setup.ts');
  const ofProfile = profile?.password;
  const question =
    ofProfile === undefined
      ? { message: `Password for ${name}`, signal, validate: requireAnswer }
      : { message: `Password for ${name}; Enter takes the one in profiles.yml`, signal };
  const value = await retryPrompts(context, async () => {
    const answer = await promptForFlag('--password', context, ({ password }) => password(question));
    const typed = answer || (ofProfile?.() ?? '');
    context.progress.update(`connecting to ${name}`);
    const tried = { dir, name, config: { ...config, password: unkept } as WarehouseConfig };
    const secret = (asked: string): string => (asked === unkept ? typed : '');
    await probeConnection({ ...tried, secrets: secret }, signal);
    return typed;
  });
  const keep = () => keepPassword({ dir, name, value }, place, context);
  const { reference: password, written } = await (place === undefined
    ? retryPrompts(context, keep)
    : keep());
  return { config: { ...config, password } as WarehouseConfig, written };
}

/** Keeps the password where the flag or the person says. */
async function keepPassword(
  secret: { readonly dir: string; readonly name: string; readonly value: string },
  flag: PasswordPlace | undefined,
  context: CommandContext,
): Promise<{ readonly reference: string; readonly written: readonly string[] }> {
  const { env } = context.host;
  const secrets = await import('../../../../project/setup/keep-secret.ts');
  const { openKeychain } = await import('../../../../store/keychain.ts');
  const keychain = openKeychain();
  const place = flag ?? (await askForPlace(secret.dir, keychain, context));
  switch (place) {
    case 'keychain':
      return { reference: secrets.keepInKeychain(secret, keychain), written: [] };
    case 'env':
      return secrets.keepInEnvFile(secret, env);
    case 'file':
      return { reference: await secrets.keepInOwnFile(secret, env), written: [] };
  }
  return place satisfies never;
}

/** Offers only what works: a keychain that answers, and a `.env` that git does not have. */
async function askForPlace(
  dir: string,
  keychain: Keychain,
  context: CommandContext,
): Promise<PasswordPlace> {
  const { signal } = context;
  const { isEnvFileInGit } = await import('../../../../project/setup/keep-secret.ts');
  const options = [
    ...(keychain.isUsable() ? [{ value: 'keychain', label: keychain.title }] : []),
    ...((await isEnvFileInGit(dir))
      ? []
      : [{ value: 'env', label: 'the file .env of this project; git ignores it' }]),
    { value: 'file', label: 'a file of your own, outside of the project' },
  ];
  const chosen = await promptForFlag('--keep-password', context, ({ select }) =>
    select({ message: 'Where shall ktx keep it? Only you can read it there.', options, signal }),
  );
  return passwordPlaces.find((place) => place === chosen) ?? 'file';
}
