import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { errorMessage, UserError } from '../lib/error.ts';

const reference = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+|keychain:[^/]+\/.+)$/;

/** A reference to a secret. A literal is refused: `ktx.yaml` is in git. */
export const secretSchema = z
  .string()
  .regex(
    reference,
    'a secret is never written into ktx.yaml: put it into an environment variable and write env:NAME, or use file:path or keychain:service/account',
  )
  .describe(
    'Reference to a secret: env:NAME, file:path (relative to the project) or keychain:service/account',
  );

/** True for what `resolveSecret` takes. */
export function isSecretReference(text: string): boolean {
  return reference.test(text);
}

/** The secret behind `ref`. Errors name the reference and never the value. */
export function resolveSecret(ref: string, projectDir: string): string {
  if (!reference.test(ref))
    throw new UserError('secret_literal', 'A secret is written out where a reference belongs.', {
      hint: 'Put it into an environment variable and write env:NAME.',
      exitCode: 2,
    });
  const separator = ref.indexOf(':');
  const [kind, name] = [ref.slice(0, separator), ref.slice(separator + 1)];
  const value =
    kind === 'env'
      ? process.env[name]
      : kind === 'file'
        ? fromFile(ref, resolve(projectDir, name))
        : fromKeychain(ref, name);
  if (value === undefined || value === '')
    throw missing(ref, value === '' ? 'is empty' : 'is not set');
  return value;
}

function fromFile(ref: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw missing(
      ref,
      `cannot be read from ${path} (${(error as NodeJS.ErrnoException).code ?? errorMessage(error)})`,
    );
  }
}

function fromKeychain(ref: string, name: string): string {
  const slash = name.indexOf('/');
  const [service, account] = [name.slice(0, slash), name.slice(slash + 1)];
  const isMac = process.platform === 'darwin';
  const command = isMac ? 'security' : 'secret-tool';
  const args = isMac
    ? ['find-generic-password', '-s', service, '-a', account, '-w']
    : ['lookup', 'service', service, 'account', account];
  try {
    return execFileSync(command, args, {
      encoding: 'utf8',
      timeout: 60_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).replace(/\n$/, '');
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code !== 'ENOENT';
    const reason = isThere
      ? 'the keychain has no such entry, or it is locked'
      : `this machine has no ${command}`;
    throw missing(ref, `cannot be read: ${reason}`);
  }
}

function missing(ref: string, what: string): UserError {
  const hints: Readonly<Record<string, string>> = {
    env: `Set it in the environment: export ${ref.slice(4)}=…`,
    file: 'Write the secret, and nothing else, into that file.',
    keychain: 'Add the entry to the keychain, or use env:NAME or file:path.',
  };
  return new UserError('secret_missing', `${ref} ${what}.`, {
    hint: hints[ref.slice(0, ref.indexOf(':'))],
    exitCode: 2,
  });
}
