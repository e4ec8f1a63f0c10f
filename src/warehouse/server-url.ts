import { z } from 'zod';
import { isSecretReference } from '../store/secrets.ts';

/**
 * The setting `url`: a URL with one of `protocols` and without a password, or a reference to a
 * whole URL.
 */
export function serverUrlSchema(protocols: readonly string[], example: string) {
  const advice =
    'a password is never written into ktx.yaml: put the whole URL into an environment variable and write url: env:WAREHOUSE_URL';
  return z
    .string()
    .refine((url) => isSecretReference(url) || isUrlWithoutPassword(url, protocols), advice)
    .optional()
    .describe(
      `${example} without a password, or a reference to the whole URL: env:NAME, file:path, keychain:ktx/account.`,
    );
}

function isUrlWithoutPassword(text: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, password, searchParams } = new URL(text);
  return protocols.includes(protocol) && password === '' && !searchParams.has('password');
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
