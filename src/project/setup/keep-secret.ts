import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import { readText, writeAtomically } from '../../store/files.ts';
import { findRepository, git } from '../../store/git.ts';
import { keychainService, type Keychain } from '../../store/keychain.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import { configHome } from '../trust/config-home.ts';

/** A secret that a person has typed, and the project whose connection needs it. */
interface TypedSecret {
  readonly dir: string;
  /** Of the connection. */
  readonly name: string;
  readonly value: string;
}

interface KeptSecret {
  readonly reference: string;
  /** Relative to the project. */
  readonly written: readonly string[];
}

const ownerOnly = 0o600;

/** `SHOP_PASSWORD` for the connection `shop`. */
export const passwordVariable = (connection: string): string =>
  `${connection.toUpperCase().replaceAll(/\W/g, '_')}_PASSWORD`;

/**
 * Adds the secret to the `.env` of the project, which only its owner may read then, and which git
 * is told to ignore. The lines that are there stay. Returns the reference for `ktx.yaml`, and the
 * files that have changed.
 */
export async function keepInEnvFile(
  { dir, name, value }: TypedSecret,
  env: HostEnvironment,
): Promise<KeptSecret> {
  const path = join(dir, '.env');
  const text = (await readText(path, dir)) ?? '';
  const inFile = parseEnv(text);
  const variable = freeVariable(passwordVariable(name), { ...inFile, ...env });
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  const line = `${variable}=${quoteForEnv(value)}`;
  const ignored = await ignoreInGit(dir, '.env');
  await writeAtomically(path, `${start}${line}\n`, { within: dir, mode: ownerOnly });
  // One that others could read keeps its mode.
  await chmod(path, ownerOnly);
  return { reference: `env:${variable}`, written: ['.env', ...ignored] };
}

/** The name, or with a number behind it: another connection, or a person, may use it. */
function freeVariable(name: string, taken: HostEnvironment): string {
  for (let count = 2, free = name; ; count += 1) {
    if (taken[free] === undefined) return free;
    free = `${name}_${count}`;
  }
}

/**
 * Writes the secret into the keychain and reads it back, because one that is locked may say yes and
 * keep nothing. Returns the reference.
 */
export function keepInKeychain({ dir, name, value }: TypedSecret, keychain: Keychain): string {
  const account = ownName(dir, name);
  const written = keychain.write(account, value);
  const kept = written.kind === 'done' ? keychain.read(account) : written;
  if (kept.kind === 'done' && kept.value === value) return `keychain:${keychainService}/${account}`;
  const reason = kept.kind === 'failed' ? `: ${kept.reason}` : '';
  throw new UserError('secret_unwritable', `The keychain did not keep the password${reason}.`, {
    hint: 'Keep it in a file of your own.',
    exitCode: 2,
  });
}

/** Another project, or another connection, has another. */
const ownName = (dir: string, name: string): string => `${name}-${shortHash(dir, 8)}`;

/** Writes the secret into a file of the person outside of the project. Returns the reference. */
export async function keepInOwnFile(
  { dir, name, value }: TypedSecret,
  env: HostEnvironment,
): Promise<string> {
  const folder = join(configHome(env), 'secrets');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, ownName(dir, name));
  await writeAtomically(path, value, { mode: ownerOnly });
  return `file:${path}`;
}

/** True if git has the `.env` of the project, so that the next commit would have the secret. */
export async function isEnvFileInGit(dir: string): Promise<boolean> {
  const repository = await findRepository(dir).catch(() => undefined);
  if (repository === undefined) return false;
  const { stdout } = await git(repository.root, ['ls-files', '--', `${repository.prefix}.env`]);
  return stdout.length > 0;
}

/** The value as `.env` has it. Throws if no quotes can hold it. */
function quoteForEnv(value: string): string {
  const isSame = (text: string) => parseEnv(`A=${text}`)['A'] === value;
  const quoted = ["'", '"', '`'].map((quote) => `${quote}${value}${quote}`).find(isSame);
  if (quoted !== undefined && !/[\r\n]/.test(value)) return quoted;
  throw new UserError('secret_unwritable', 'A file .env cannot hold this password.', {
    hint: 'Keep it in a file of your own.',
    exitCode: 2,
  });
}

/** Adds a line to `.gitignore`, unless it is there. Returns the file if it has changed. */
async function ignoreInGit(dir: string, pattern: string): Promise<readonly string[]> {
  const path = join(dir, '.gitignore');
  const text = (await readText(path, dir)) ?? '';
  if (text.split(/\r?\n/).some((line) => line.trim() === pattern)) return [];
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  await writeAtomically(path, `${start}${pattern}\n`, { within: dir });
  return ['.gitignore'];
}
