import { z } from 'zod';
import { pathSchema } from '../database-file.ts';

/** The setting `host`, where it is the name of a host and nothing else. */
export const hostSchema = z.string().min(1).optional().describe('Host name. Default: localhost.');

/** The setting `port`; `description` says the default. */
export function portSchema(description: string) {
  return z.int().min(1).max(65_535).optional().describe(description);
}

/** The setting `user` of a login that needs no more than to read. */
export const readerSchema = z
  .string()
  .min(1)
  .optional()
  .describe('User name. It needs only SELECT on the tables.');

/** The setting `ca`. */
export const certificateSchema = pathSchema
  .optional()
  .describe(
    'PEM file with the certificate of the authority that signed the server’s certificate. Relative to the project or absolute.',
  );

/** The setting `ssl`; `rest` says what `off` is for, and the default. */
export function encryptionSchema(rest: string) {
  return z
    .enum(['off', 'verify', 'no-verify'])
    .optional()
    .describe(
      `\`verify\`: encrypted, with the certificate and host name checked. \`no-verify\`: encrypted only. \`off\`: not encrypted${rest}`,
    );
}

/** The setting `usd_per_tib`, where the engine says what a statement would read or has read. */
export const usdPerTibSchema = z
  .number()
  .positive()
  .optional()
  .describe(
    'What the provider bills for 2^40 bytes (1 TiB) that statements read, in US dollars; `query.max_cost_usd` counts by it. Default: the list price, where there is one.',
  );
