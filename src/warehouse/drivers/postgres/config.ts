import { z } from 'zod';
import { secretSchema } from '../../../store/secrets.ts';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { tableScopeKeys } from '../../scope/table-scope.ts';
import { pathSchema } from '../../database-file.ts';
import type { DriverDescription } from '../../driver-description.ts';
import { settingIdentitySchema } from '../../identity/identity-config.ts';
import { historySchema } from '../../history/history-config.ts';
import { portSchema, readerSchema } from '../../server/server-keys.ts';
import { serverUrlSchema } from '../../server-url.ts';

export const postgresConfigSchema = z
  .strictObject({
    driver: z.literal('postgres'),
    url: serverUrlSchema(['postgres:', 'postgresql:'], 'postgresql://user@host:5432/database'),
    host: pathSchema
      .optional()
      .describe('Host name, or the folder of a Unix socket. Default: localhost.'),
    port: portSchema('Default: 5432.'),
    database: z.string().min(1).optional().describe('Database name.'),
    user: readerSchema,
    password: secretSchema.optional(),
    ssl: z
      .enum(['off', 'verify', 'no-verify'])
      .optional()
      .describe(
        '`verify`: encrypted, with the certificate checked. `no-verify`: encrypted only. `off`: not encrypted. Default: the setting in the URL, otherwise `off`.',
      ),
    schemas: z
      .array(z.string())
      .min(1)
      .optional()
      .describe('Use only these schemas. Datasets of the first one have names without a schema.'),
    allow_functions: allowFunctionsSchema,
    ...tableScopeKeys,
    history: historySchema,
    identity: settingIdentitySchema,
  })
  .refine(
    ({ url, host, database }) =>
      (url === undefined) !== (host === undefined && database === undefined),
    {
      error: 'give either url, or host, database, user and password',
      path: ['url'],
    },
  )
  .refine(
    ({ identity, allow_functions: functions = [] }) =>
      identity === undefined || !functions.some((name) => /(?:^|\.)"?set_config"?$/i.test(name)),
    {
      error: 'with identity, set_config would let a caller take that of another',
      path: ['allow_functions'],
    },
  );
export type PostgresConfig = z.infer<typeof postgresConfigSchema>;

export const postgresDriver = {
  name: 'postgres',
  title: 'Postgres',
  config: postgresConfigSchema,
  examples: [
    [
      '--driver postgres --url env:WAREHOUSE_URL --schema analytics',
      'Postgres; the secret stays in the environment',
    ],
  ],
  systemNames: /^(?:pg_|information_schema$|_timescaledb_|crdb_internal$)/i,
  server: { defaultPort: 5432, loginReads: 'database' },
} as const satisfies DriverDescription;
