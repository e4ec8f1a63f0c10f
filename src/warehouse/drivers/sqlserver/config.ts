import { z } from 'zod';
import { secretSchema } from '../../../store/secrets.ts';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { otherDatabasesSchema } from '../../scope/catalogs.ts';
import { tableScopeKeys } from '../../scope/table-scope.ts';
import type { DriverDescription } from '../../driver-description.ts';
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

export const sqlserverConfigSchema = z
  .strictObject({
    driver: z.literal('sqlserver'),
    url: serverUrlSchema(['sqlserver:', 'mssql:'], 'sqlserver://user@host:1433/database'),
    host: hostSchema,
    port: portSchema('Default: 1433.'),
    database: z.string().min(1).optional().describe('Database whose tables ktx reads.'),
    other_databases: otherDatabasesSchema,
    user: readerSchema,
    password: secretSchema.optional(),
    token: secretSchema
      .optional()
      .describe(
        'Reference to an access token of Microsoft Entra ID for https://database.windows.net that is sent in place of user and password: env:NAME, file:path or keychain:ktx/account. ktx does not renew it.',
      ),
    ssl: encryptionSchema('; only for a server on this machine. Default: `verify`.'),
    ca: certificateSchema,
    schemas: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Use only these schemas of the database. Default: every schema.'),
    allow_writable_role: z
      .boolean()
      .optional()
      .describe(
        'Connect although the login may write. Then only the gate, the plan of each statement and the rollback behind it keep it from writing. Default: false.',
      ),
    allow_functions: allowFunctionsSchema,
    ...tableScopeKeys,
    usd_per_tib: usdPerTibSchema,
    history: historySchema,
  })
  .refine(({ url, database }) => (url === undefined) !== (database === undefined), {
    error: 'give either url, or host, database, user and password',
    path: ['url'],
  })
  .refine(({ token, user, password }) => token === undefined || (user ?? password) === undefined, {
    error: 'give either token, or user and password',
    path: ['token'],
  });
export type SqlServerConfig = z.infer<typeof sqlserverConfigSchema>;

export const sqlserverDriver = {
  name: 'sqlserver',
  title: 'SQL Server, Azure SQL',
  config: sqlserverConfigSchema,
  examples: [
    [
      '--driver sqlserver --url env:WAREHOUSE_URL',
      'SQL Server; the secret stays in the environment',
    ],
  ],
  systemNames: /^(?:sys|information_schema|msdb|tempdb)$/i,
  server: { defaultPort: 1433, loginReads: 'database' },
  extra: 'sqlserver',
  isUntried: true,
} as const satisfies DriverDescription;
