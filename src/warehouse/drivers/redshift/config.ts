import { z } from 'zod';
import { secretSchema } from '../../../store/secrets.ts';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { tableScopeKeys } from '../../scope/table-scope.ts';
import type { DriverDescription } from '../../driver-description.ts';
import { historySchema } from '../../history/history-config.ts';
import { portSchema, readerSchema } from '../../server/server-keys.ts';
import { serverUrlSchema } from '../../server-url.ts';

export const redshiftConfigSchema = z
  .strictObject({
    driver: z.literal('redshift'),
    url: serverUrlSchema(
      ['redshift:', 'postgres:', 'postgresql:'],
      'redshift://user@host:5439/database',
    ),
    host: z
      .string()
      .min(1)
      .optional()
      .describe('The endpoint of the cluster or workgroup. Default: localhost.'),
    port: portSchema('Default: 5439.'),
    database: z.string().min(1).optional().describe('Database name.'),
    user: readerSchema,
    password: secretSchema.optional(),
    iam: z
      .literal(false, {
        error:
          'ktx cannot log in by IAM yet: give a user and a password of the database (those of GetClusterCredentials are such, for an hour)',
      })
      .optional()
      .describe('Only false: ktx logs in with a user and a password of the database.'),
    ssl: z
      .enum(['off', 'verify', 'no-verify'])
      .optional()
      .describe(
        '`verify`: encrypted, with the certificate checked. `no-verify`: encrypted only. `off`: not encrypted. Default: the setting in the URL, otherwise `verify`.',
      ),
    schemas: z
      .array(z.string())
      .min(1)
      .optional()
      .describe(
        'Use only these schemas; names without a schema are looked up in them, in this order. Default: every schema, and `public` for such names.',
      ),
    query_group: z
      .string()
      .regex(/^[\w .:-]+$/, 'letters, digits, spaces and . : _ -')
      .optional()
      .describe('The query group of every statement, for a queue of its own. Default: `ktx`.'),
    allow_writable_role: z
      .boolean()
      .optional()
      .describe(
        'Connect with a login that could change data. ktx then relies on the read-only transaction and its own checks alone.',
      ),
    allow_functions: allowFunctionsSchema,
    ...tableScopeKeys,
    history: historySchema,
  })
  .refine(
    ({ url, host, database }) =>
      (url === undefined) !== (host === undefined && database === undefined),
    { error: 'give either url, or host, database, user and password', path: ['url'] },
  );
export type RedshiftConfig = z.infer<typeof redshiftConfigSchema>;

export const redshiftDriver = {
  name: 'redshift',
  title: 'Amazon Redshift',
  config: redshiftConfigSchema,
  examples: [
    [
      '--driver redshift --url env:WAREHOUSE_URL --schema analytics',
      'Redshift; the secret stays in the environment',
    ],
  ],
  systemNames: /^(?:pg_|information_schema$|st[lv]_|sv[vlc]s?_|sys_)/i,
  server: { defaultPort: 5439, loginReads: 'database' },
  isUntried: true,
} as const satisfies DriverDescription;
