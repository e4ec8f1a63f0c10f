import { z } from 'zod';
import { secretSchema } from '../../../store/secrets.ts';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { tableScopeKeys } from '../../scope/table-scope.ts';
import type { DriverDescription } from '../../driver-description.ts';
import { roleIdentitySchema } from '../../identity/identity-config.ts';
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

export const clickhouseConfigSchema = z
  .strictObject({
    driver: z.literal('clickhouse'),
    url: serverUrlSchema(['https:', 'http:'], 'https://user@host:8443/database'),
    host: hostSchema,
    port: portSchema('Port of the HTTP interface. Default: 8443; 8123 with ssl: off.'),
    database: z
      .string()
      .min(1)
      .optional()
      .describe('Database name. Table names without a schema are looked up in it.'),
    user: readerSchema,
    password: secretSchema.optional(),
    ssl: encryptionSchema('. Default: `verify`; `off` for a url with http.'),
    ca: certificateSchema,
    schemas: z
      .array(z.string())
      .min(1)
      .optional()
      .describe('Use only these databases of the server. Default: the database of the connection.'),
    max_memory_mb: z
      .int()
      .min(1)
      .optional()
      .describe('The most memory that one statement may take on the server. Default: 4096.'),
    max_read_mb: z
      .int()
      .min(1)
      .optional()
      .describe(
        'The most that one statement may read on the server, uncompressed. Default: what the login may.',
      ),
    allow_functions: allowFunctionsSchema,
    ...tableScopeKeys,
    usd_per_tib: usdPerTibSchema,
    history: historySchema,
    identity: roleIdentitySchema,
  })
  .refine(({ url, database }) => (url === undefined) !== (database === undefined), {
    error: 'give either url, or host, database, user and password',
    path: ['url'],
  });
export type ClickhouseConfig = z.infer<typeof clickhouseConfigSchema>;

export const clickhouseDriver = {
  name: 'clickhouse',
  title: 'ClickHouse',
  config: clickhouseConfigSchema,
  examples: [
    [
      '--driver clickhouse --url env:WAREHOUSE_URL',
      'ClickHouse; the secret stays in the environment',
    ],
  ],
  tellsBytesRead: true,
  systemNames: /^(?:system|information_schema)$/i,
  server: { defaultPort: 8443, loginReads: 'server' },
} as const satisfies DriverDescription;
