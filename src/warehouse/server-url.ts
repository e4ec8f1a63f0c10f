import { z } from 'zod';
import { isSecretReference } from '../store/secrets.ts';

/**
 * The setting `url`: a URL with one of `protocols` and without a password, or a reference to a
 * whole URL.
 */
export function serverUrlSchema(protocols: readonly string[], example: string) {
  return z
    .string()
    .refine((url) => isSecretReference(url) || isUrl(url, protocols), {
      error: `not an address like ${example}, and no reference like env:WAREHOUSE_URL`,
      abort: true,
    })
    .refine((url) => isSecretReference(url) || !hasPassword(url), {
      error:
        'a password is never written into ktx.yaml: put the whole URL into an environment variable and write url: env:WAREHOUSE_URL',
    })
    .optional()
    .describe(
      `${example} without a password, or a reference to the whole URL: env:NAME, file:path, keychain:ktx/account.`,
    );
}

function isUrl(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}

function hasPassword(url: string): boolean {
  const { password, searchParams } = new URL(url);
  return password !== '' || searchParams.has('password');
}

/** A part of a URL; undefined if it is empty. A `%` that begins no escape stands for itself. */
export function partOfUrl(part: string): string | undefined {
  if (part === '') return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
