import { realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { errorMessage, UserError } from '../lib/error.ts';
import { readConfinedFileSync } from './confined-file.ts';
import { keychainService, openKeychain } from './keychain.ts';

const referencePattern = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+|keychain:[^/]+\/.+)$/;

const foreignEntry =
  'ktx reads only its own entries of the keychain: those of the service ktx (keychain:ktx/account)';

/** False for an entry that another program keeps in the keychain. */
function isOwnEntry(reference: string): boolean {
  return !reference.startsWith('keychain:') || reference.startsWith(ownEntry);
}

const ownEntry = `keychain:${keychainService}/`;

/** A reference to a secret. A literal secret is an error, because `ktx.yaml` is in git. */
export const secretSchema = z
  .string()
  .regex(
    referencePattern,
    'a secret is never written into ktx.yaml: put it into an environment variable and write env:NAME, or use file:path or keychain:ktx/account',
  )
  .refine((reference) => isOwnEntry(reference), foreignEntry)
  .describe(
    'Reference to a secret: env:NAME, file:path (relative to the project) or keychain:ktx/account',
  );

/** True if the text has the form of a reference. */
export function isSecretReference(text: string): boolean {
  return referencePattern.test(text);
}

/** Gives the value of a reference. Errors name the reference, never the value. */
export type ReadSecret = (reference: string) => string;

/**
 * The real environment of the process, or what a caller passes for it; never a project's `.env`.
 */
export type HostEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The variables of a project's `.env`. They resolve `env:` references, and enter the environment of
 * no process.
 */
export interface EnvFile {
  readonly variables: ReadonlyMap<string, string>;
  /** Why the file is not used. */
  readonly problem?: string;
}

/** Where the values of references are. */
export interface SecretSources {
  readonly projectDir: string;
  /** A person's own folder for ktx on this machine. */
  readonly configDir: string;
  /** The real environment. It comes before the project's `.env`. */
  readonly env: HostEnvironment;
  readonly envFile: EnvFile;
}

export interface SecretAccess extends SecretSources {
  /**
   * Values that were read when the project was checked, by reference: what was approved is what is
   * used.
   */
  readonly known?: ReadonlyMap<string, string>;
  /** Real paths outside of the project that a person approved. */
  readonly files?: ReadonlySet<string>;
}

/**
 * Opens the secrets of a project. Only `project/trust/` may call it, after a person has approved
 * what the secrets are for (test/boundaries.test.ts): everything else takes a `ReadSecret`, and so
 * cannot forget to ask.
 */
export function openSecrets(access: SecretAccess): ReadSecret {
  return (reference) => {
    if (!referencePattern.test(reference))
      throw new UserError('secret_literal', 'A secret is written where a reference is expected.', {
        hint: 'Put it into an environment variable and write env:NAME.',
        exitCode: 2,
      });
    const value = access.known?.get(reference) ?? readReference(reference, access);
    if (value === undefined || value === '')
      throw missingSecretError(
        reference,
        value === '' ? 'is empty' : `is not set${envFileProblem(access)}`,
      );
    return value;
  };
}

function envFileProblem({ envFile }: SecretAccess): string {
  return envFile.problem === undefined ? '' : ` (.env was not read: ${envFile.problem})`;
}

/** The name after `env:`, the path after `file:`, or the entry after `keychain:`. */
export function splitReference(reference: string): readonly [kind: string, name: string] {
  const separator = reference.indexOf(':');
  return [reference.slice(0, separator), reference.slice(separator + 1)];
}

function readReference(reference: string, access: SecretAccess): string | undefined {
  const [kind, name] = splitReference(reference);
  if (kind === 'env') return access.env[name] ?? access.envFile.variables.get(name);
  if (kind === 'file') return readSecretFile(reference, access);
  return readKeychain(reference);
}

/** The real path that a `file:` reference leads to, as far as it exists. */
export function secretFilePath(reference: string, projectDir: string): string {
  return realPath(resolve(projectDir, splitReference(reference)[1]));
}

/**
 * True if the path is in the project or in the person's own folder for ktx, where secrets may be
 * without being named.
 */
export function isSecretFolder(path: string, sources: SecretSources): boolean {
  return secretFolders(sources).some((folder) => isInside(path, folder));
}

function secretFolders({ projectDir, configDir }: SecretSources): readonly string[] {
  return [projectDir, configDir].map(realPath);
}

/**
 * True if the path is below the folder: `/proj-evil` is not in `/proj`. Both have to be real paths.
 */
export function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The path with all links followed, as far as it exists. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), path.slice(parent.length));
  }
}

/** In bytes. */
const largestSecret = 1_000_000;

function readSecretFile(reference: string, access: SecretAccess): string {
  const path = secretFilePath(reference, access.projectDir);
  const within =
    secretFolders(access).find((folder) => isInside(path, folder)) ??
    (access.files?.has(path) === true ? dirname(path) : undefined);
  if (within === undefined)
    throw missingSecretError(reference, `leads to ${path}, and nobody approved that file`);
  try {
    const read = readConfinedFileSync(path, { within, maxBytes: largestSecret });
    if (read.kind === 'read') return read.bytes.toString('utf8').replace(/\r?\n$/, '');
    const reason = read.kind === 'missing' ? 'ENOENT' : read.reason;
    throw missingSecretError(reference, `cannot be read from ${path} (${reason})`);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason = (error as NodeJS.ErrnoException).code ?? errorMessage(error);
    throw missingSecretError(reference, `cannot be read from ${path} (${reason})`);
  }
}

/** Only entries of ktx: an approved project gets no password of another program. */
function readKeychain(reference: string): string {
  if (!isOwnEntry(reference)) throw missingSecretError(reference, `is not read: ${foreignEntry}`);
  const answer = openKeychain().read(reference.slice(ownEntry.length));
  if (answer.kind === 'done') return answer.value;
  const reason = answer.kind === 'missing' ? 'the keychain has no such entry' : answer.reason;
  throw missingSecretError(reference, `cannot be read: ${reason}`);
}

function missingSecretError(reference: string, what: string): UserError {
  const hints: Readonly<Record<string, string>> = {
    env: `Set it in the environment, or in .env in the project: export ${reference.slice(4)}=…`,
    file: 'Write the secret, and nothing else, into that file.',
    keychain: 'Add the entry to the keychain, or use env:NAME or file:path.',
  };
  return new UserError('secret_missing', `${reference} ${what}.`, {
    hint: hints[reference.slice(0, reference.indexOf(':'))],
    exitCode: 2,
  });
}

/**
 * The value of a reference if the project itself supplies it, in its `.env` or in a file. Whoever
 * wrote the project chose that value, so it counts when a person approves the project. Undefined
 * for a value that this machine supplies.
 */
export function readProjectValue(reference: string, sources: SecretSources): string | undefined {
  const [kind, name] = splitReference(reference);
  if (kind === 'env')
    return sources.env[name] === undefined ? sources.envFile.variables.get(name) : undefined;
  if (kind !== 'file') return undefined;
  const path = secretFilePath(reference, sources.projectDir);
  if (!isInside(path, realPath(sources.projectDir))) return undefined;
  try {
    return readSecretFile(reference, sources);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
