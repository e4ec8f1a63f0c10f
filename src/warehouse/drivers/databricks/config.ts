import { z } from 'zod';
import { secretSchema } from '../../../store/secrets.ts';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { otherCatalogsSchema } from '../../scope/catalogs.ts';
import { tableScopeKeys } from '../../scope/table-scope.ts';
import type { DriverDescription } from '../../driver-description.ts';
import { usdPerTibSchema } from '../../server/server-keys.ts';
import { serverUrlSchema } from '../../server-url.ts';

export const databricksConfigSchema = z
  .strictObject({
    driver: z.literal('databricks'),
    url: serverUrlSchema(['https:', 'http:'], 'https://dbc-a1b2c3d4-e5f6.cloud.databricks.com'),
    warehouse_id: z
      .string()
      .regex(/^\w+$/, 'the id of a SQL warehouse, such as 1234567890abcdef')
      .describe('Id of the SQL warehouse that runs the statements.'),
    catalog: z.string().min(1).describe('Catalog of Unity Catalog whose tables ktx reads.'),
    other_catalogs: otherCatalogsSchema,
    schemas: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        'Use only these schemas of the catalog; table names without a schema are looked up in the first one. Default: every schema.',
      ),
    token: secretSchema
      .optional()
      .describe(
        'Reference to a personal access token, or to an OAuth token of a user: env:NAME, file:path or keychain:ktx/account.',
      ),
    client_id: secretSchema
      .optional()
      .describe('Reference to the application id of a service principal (OAuth M2M).'),
    client_secret: secretSchema
      .optional()
      .describe('Reference to the OAuth secret of the service principal.'),
    allow_writable_role: z
      .boolean()
      .optional()
      .describe(
        'Connect although the login may write. Then only the gate and the plan of each statement keep it from writing. Default: false.',
      ),
    allow_functions: allowFunctionsSchema,
    ...tableScopeKeys,
    usd_per_tib: usdPerTibSchema,
  })
  .refine(({ url }) => url !== undefined, { error: 'give the url of the workspace', path: ['url'] })
  .refine(
    ({ token, client_id: id, client_secret: secret }) =>
      token === undefined ? id !== undefined && secret !== undefined : !(id ?? secret),
    { error: 'give either token, or client_id and client_secret', path: ['token'] },
  );
export type DatabricksConfig = z.infer<typeof databricksConfigSchema>;

export const databricksDriver = {
  name: 'databricks',
  title: 'Databricks SQL',
  config: databricksConfigSchema,
  examples: [
    [
      '--driver databricks --url https://dbc-a1b2c3d4-e5f6.cloud.databricks.com --warehouse-id 1234567890abcdef --catalog main --token env:DATABRICKS_TOKEN',
      'Databricks; the secret stays in the environment',
    ],
  ],
  systemNames: /^(?:system|information_schema)$/i,
  server: { defaultPort: 443, loginReads: 'server' },
  isUntried: true,
} as const satisfies DriverDescription;
