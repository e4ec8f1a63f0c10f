import { z } from 'zod';
import { secretSchema } from '../../../store/secrets.ts';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { otherDatabasesSchema } from '../../scope/catalogs.ts';
import { tableScopeKeys } from '../../scope/table-scope.ts';
import type { DriverDescription } from '../../driver-description.ts';
import { exchangeIdentitySchema } from '../../identity/identity-config.ts';
import { historySchema } from '../../history/history-config.ts';
import { usdPerTibSchema } from '../../server/server-keys.ts';

const nameSchema = z.string().min(1);

export const snowflakeConfigSchema = z
  .strictObject({
    driver: z.literal('snowflake'),
    account: z
      .string()
      .regex(/^[A-Za-z0-9][\w.-]*$/, 'an account identifier, like myorg-myaccount, without https')
      .describe('Account identifier: `organization-account`, or a locator with its region.'),
    user: nameSchema.optional().describe('User name. Needed with `private_key`.'),
    private_key: secretSchema
      .optional()
      .describe('Reference to the private key of the user (PEM, RSA).'),
    private_key_passphrase: secretSchema
      .optional()
      .describe('Reference to the passphrase of an encrypted private key.'),
    token: secretSchema.optional().describe('Reference to a programmatic access token.'),
    oauth_token: secretSchema.optional().describe('Reference to an OAuth access token.'),
    warehouse: nameSchema
      .optional()
      .describe('Warehouse that runs the statements. Default: that of the user.'),
    role: nameSchema.optional().describe('Role of every statement. Default: that of the user.'),
    database: nameSchema.describe('Database that the connection reads.'),
    other_databases: otherDatabasesSchema,
    schemas: z
      .array(nameSchema)
      .min(1)
      .optional()
      .describe(
        'Use only these schemas; tables of the first one have names without a schema. Default: every schema, PUBLIC first.',
      ),
    allow_writable_role: z
      .boolean()
      .optional()
      .describe(
        'Connect although the role may write. Snowflake has no read-only session: then only the parser and the plan keep a statement from writing.',
      ),
    endpoint: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe(
        'Address of the server, for a private link. Default: https://<account>.snowflakecomputing.com.',
      ),
    allow_functions: allowFunctionsSchema,
    ...tableScopeKeys,
    usd_per_tib: usdPerTibSchema,
    history: historySchema,
    identity: exchangeIdentitySchema,
  })
  .refine(
    ({ private_key: key, token, oauth_token: oauth }) =>
      [key, token, oauth].filter((secret) => secret !== undefined).length === 1,
    { error: 'give one of private_key, token and oauth_token', path: ['private_key'] },
  )
  .refine(({ private_key: key, user }) => key === undefined || user !== undefined, {
    error: 'private_key needs the user whose key it is',
    path: ['user'],
  });
export type SnowflakeConfig = z.infer<typeof snowflakeConfigSchema>;

/** The address of the server; hosts have no underscores. */
export function serverAddress({
  account,
  endpoint,
}: Pick<SnowflakeConfig, 'account' | 'endpoint'>): string {
  return endpoint ?? `https://${account.toLowerCase().replaceAll('_', '-')}.snowflakecomputing.com`;
}

export const snowflakeDriver = {
  name: 'snowflake',
  title: 'Snowflake',
  config: snowflakeConfigSchema,
  examples: [
    [
      '--driver snowflake --account myorg-myaccount --user KTX_READER --private-key file:key.p8 --warehouse WH --database SALES',
      'Snowflake, with the key of a user that can only read',
    ],
  ],
  tellsBytesRead: true,
  systemNames: /^(?:information_schema|snowflake|account_usage)$/i,
  server: {
    defaultPort: 443,
    loginReads: 'database',
    address: ({ account, endpoint }) => {
      const named = { account: String(account), ...(typeof endpoint === 'string' && { endpoint }) };
      const address = serverAddress(named);
      return URL.canParse(address) ? new URL(address).host : address;
    },
  },
  isUntried: true,
} as const satisfies DriverDescription;
