import { z } from 'zod';
import { secretSchema } from '../../../store/secrets.ts';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { tableScopeKeys } from '../../scope/table-scope.ts';
import { pathSchema } from '../../database-file.ts';
import type { DriverDescription } from '../../driver-description.ts';
import { roleIdentitySchema } from '../../identity/identity-config.ts';
import { historySchema } from '../../history/history-config.ts';
import {
  certificateSchema,
  encryptionSchema,
  portSchema,
  readerSchema,
} from '../../server/server-keys.ts';
import { serverUrlSchema } from '../../server-url.ts';

export const mysqlConfigSchema = z
  .strictObject({
    driver: z.literal('mysql'),
    url: serverUrlSchema(['mysql:', 'mariadb:'], 'mysql://user@host:3306/database'),
    host: pathSchema
      .optional()
      .describe('Host name, or the absolute path of a Unix socket. Default: localhost.'),
    port: portSchema('Default: 3306.'),
    database: z
      .string()
      .min(1)
      .optional()
      .describe('Database name. Table names without a schema are looked up in it.'),
    user: readerSchema,
    password: secretSchema.optional(),
    ssl: encryptionSchema('. Default: `verify`; `off` for a Unix socket.'),
    ca: certificateSchema,
    schemas: z
      .array(z.string())
      .min(1)
      .optional()
      .describe('Use only these databases of the server. Default: the database of the connection.'),
    allow_functions: allowFunctionsSchema,
    ...tableScopeKeys,
    history: historySchema,
    identity: roleIdentitySchema,
  })
  .refine(({ url, database }) => (url === undefined) !== (database === undefined), {
    error: 'give either url, or host, database, user and password',
    path: ['url'],
  });
export type MysqlConfig = z.infer<typeof mysqlConfigSchema>;

export const mysqlDriver = {
  name: 'mysql',
  title: 'MySQL, MariaDB',
  config: mysqlConfigSchema,
  examples: [
    ['--driver mysql --url env:WAREHOUSE_URL', 'MySQL; the secret stays in the environment'],
  ],
  systemNames: /^(?:information_schema|performance_schema|mysql|sys)$/i,
  server: { defaultPort: 3306, loginReads: 'server' },
} as const satisfies DriverDescription;
