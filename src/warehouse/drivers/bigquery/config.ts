import { z } from 'zod';
import { secretSchema } from '../../../store/secrets.ts';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { tableScopeKeys } from '../../scope/table-scope.ts';
import type { DriverDescription } from '../../driver-description.ts';
import { historySchema } from '../../history/history-config.ts';
import { usdPerTibSchema } from '../../server/server-keys.ts';

const projectPattern = '[a-z][a-z0-9-]*(?:\\.[a-z0-9.-]+:[a-z][a-z0-9-]*)?';
const labelPattern = /^[\p{Ll}\p{Lo}\d_-]{0,63}$/u;

export const bigqueryConfigSchema = z.strictObject({
  driver: z.literal('bigquery'),
  project: z
    .string()
    .regex(new RegExp(`^${projectPattern}$`), 'the id of a project, like shop-analytics-4711')
    .describe('Id of the Google Cloud project that pays for the queries.'),
  location: z
    .string()
    .regex(/^[A-Za-z][\w-]*$/, 'a location, like EU or europe-west3')
    .optional()
    .describe('Where the queries run, like EU or europe-west3. Default: where the tables are.'),
  datasets: z
    .array(
      z
        .string()
        .regex(
          new RegExp(`^(?:${projectPattern}\\.)?\\w+$`),
          'a dataset, like analytics, or one of another project, like other-project.shared',
        ),
    )
    .min(1)
    .optional()
    .describe(
      'Use only these datasets, like analytics, or other-project.shared of another project. Table names without a dataset are looked up in the first one. Default: every dataset of the project.',
    ),
  credentials: secretSchema
    .optional()
    .describe(
      'Reference to the JSON text of a service account key, or of a login by gcloud: env:NAME, file:path or keychain:ktx/account. Default: the login of this machine (GOOGLE_APPLICATION_CREDENTIALS, gcloud, or the metadata server).',
    ),
  impersonate: z
    .email()
    .optional()
    .describe('Run as this service account. The login must be allowed to create tokens for it.'),
  labels: z
    .record(z.string().regex(/^\p{Ll}[\p{Ll}\p{Lo}\d_-]{0,62}$/u), z.string().regex(labelPattern))
    .optional()
    .describe('Labels of the jobs, for the bill. ktx adds tool: ktx.'),
  endpoint: z
    .url({ protocol: /^https?$/ })
    .refine((url) => !/^\w+:\/\/[^/]*@/.test(url), 'a login is never written into an address')
    .optional()
    .describe(
      'Address of the API, for a private endpoint. Default: https://bigquery.googleapis.com.',
    ),
  allow_writable_role: z
    .boolean()
    .optional()
    .describe('True: also use a login that may write. ktx refuses it otherwise.'),
  allow_functions: allowFunctionsSchema,
  ...tableScopeKeys,
  usd_per_tib: usdPerTibSchema,
  history: historySchema,
});
export type BigqueryConfig = z.infer<typeof bigqueryConfigSchema>;

export const bigqueryDriver = {
  name: 'bigquery',
  title: 'BigQuery',
  config: bigqueryConfigSchema,
  examples: [
    [
      '--driver bigquery --project shop-analytics --dataset analytics --credentials file:key.json',
      'BigQuery; the key of a service account stays in its file',
    ],
  ],
  tellsBytesRead: true,
  systemNames: /^(?:information_schema(?:\..*)?|__tables__|__tables_summary__)$/i,
  server: {
    defaultPort: 443,
    // A login can read datasets of other projects.
    loginReads: 'server',
    address: ({ endpoint }) =>
      typeof endpoint === 'string' && URL.canParse(endpoint)
        ? new URL(endpoint).hostname
        : 'bigquery.googleapis.com',
    machineLogin: ({ credentials }) =>
      credentials === undefined
        ? 'the login of this machine for Google Cloud (GOOGLE_APPLICATION_CREDENTIALS, gcloud)'
        : undefined,
  },
  billed: { usdPerTib: 6.25 },
  isUntried: true,
} as const satisfies DriverDescription;
