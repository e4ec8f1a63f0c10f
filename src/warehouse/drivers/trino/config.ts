import { z } from 'zod';
import { secretSchema } from '../../../store/secrets.ts';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { otherCatalogsSchema } from '../../scope/catalogs.ts';
import { tableScopeKeys } from '../../scope/table-scope.ts';
import type { DriverDescription } from '../../driver-description.ts';
import { userIdentitySchema } from '../../identity/identity-config.ts';
import { historySchema } from '../../history/history-config.ts';
import {
  certificateSchema,
  encryptionSchema,
  hostSchema,
  portSchema,
  readerSchema,
  usdPerTibSchema,
} from '../../server/server-keys.ts';
import { serverUrlSchema } from '../../server-url.ts';

export const trinoConfigSchema = z
  .strictObject({
    driver: z.literal('trino'),
    url: serverUrlSchema(['https:', 'http:'], 'https://user@host:8443/catalog/schema'),
    host: hostSchema,
    port: portSchema('Port of the coordinator. Default: 8443; 8080 with ssl: off.'),
    catalog: z.string().min(1).optional().describe('Catalog whose tables ktx reads.'),
    other_catalogs: otherCatalogsSchema,
    user: readerSchema,
    password: secretSchema.optional(),
    token: secretSchema
      .optional()
      .describe(
        'Reference to a token (JWT or OAuth 2) that is sent in place of a password: env:NAME, file:path or keychain:ktx/account.',
      ),
    ssl: encryptionSchema(
      '; no password and no token is sent then. Default: `verify`; `off` for a url with http.',
    ),
    ca: certificateSchema,
    schemas: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        'Use only these schemas of the catalog; table names without a schema are looked up in the first one. Default: the schema of the url, or else every schema.',
      ),
    max_read_mb: z
      .int()
      .min(1)
      .optional()
      .describe(
        'The most that one statement may read from storage. Default: what the server permits.',
      ),
    allow_functions: allowFunctionsSchema,
    ...tableScopeKeys,
    usd_per_tib: usdPerTibSchema,
    history: historySchema,
    identity: userIdentitySchema,
  })
  .refine(({ url, catalog }) => (url === undefined) !== (catalog === undefined), {
    error: 'give either url, or host, catalog and user',
    path: ['url'],
  })
  .refine(({ password, token }) => password === undefined || token === undefined, {
    error: 'give either password or token',
    path: ['token'],
  });
export type TrinoConfig = z.infer<typeof trinoConfigSchema>;

export const trinoDriver = {
  name: 'trino',
  title: 'Trino, Starburst',
  config: trinoConfigSchema,
  examples: [
    ['--driver trino --url env:WAREHOUSE_URL', 'Trino; the secret stays in the environment'],
  ],
  tellsBytesRead: true,
  systemNames: /^(?:system|information_schema)$/i,
  server: { defaultPort: 8443, loginReads: 'server' },
  isUntried: true,
} as const satisfies DriverDescription;
