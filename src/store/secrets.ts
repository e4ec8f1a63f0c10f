import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { errorMessage, UserError } from '../lib/error.ts';

const referencePattern = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+|keychain:[^/]+\/.+)$/;

/** A reference to a secret. A literal secret is an error, because `ktx.yaml` is in git. */
export const secretSchema = z
  .string()
  .regex(
    referencePattern,
    'a secret is never written into ktx.yaml: put it into an environment variable and write env:NAME, or use file:path or keychain:service/account',
  )
  .describe(
    'Reference to a secret: env:NAME, file:path (relative to the project) or keychain:service/account',
  );

/** True if `resolveSecret` can resolve the text. */
export function isSecretReference(text: string): boolean {
  return referencePattern.test(text);
}

/** Reads the secret. Errors name the reference, never the value. */
export function resolveSecret(ref: string, projectDir: string): string {
  if (!referencePattern.test(ref))
    throw new UserError('secret_literal', 'A secret is written where a reference is expected.', {
      hint: 'Put it into an environment variable and write env:NAME.',
      exitCode: 2,
    });
  const value = readSecret(ref, projectDir);
  if (value === undefined || value === '')
    throw missingSecretError(ref, value === '' ? 'is empty' : 'is not set');
  return value;
}

function readSecret(ref: string, projectDir: string): string | undefined {
  const separator = ref.indexOf(':');
  const [kind, name] = [ref.slice(0, separator), ref.slice(separator + 1)];
  if (kind === 'env') return process.env[name];
  if (kind === 'file') return readSecretFile(ref, resolve(projectDir, name));
  return readKeychain(ref, name);
}

function readSecretFile(ref: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw missingSecretError(
      ref,
      `cannot be read from ${path} (${(error as NodeJS.ErrnoException).code ?? errorMessage(error)})`,
    );
  }
}

function readKeychain(ref: string, name: string): string {
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
    throw missingSecretError(ref, `cannot be read: ${reason}`);
  }
}

function missingSecretError(ref: string, what: string): UserError {
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
