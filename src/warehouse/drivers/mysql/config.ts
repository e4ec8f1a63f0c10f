import { z } from 'zod';
import { secretSchema } from '../../../store/secrets.ts';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { pathSchema } from '../../database-file.ts';
import type { DriverDescription } from '../../driver-description.ts';
import { serverUrlSchema } from '../../server-url.ts';

export const mysqlConfigSchema = z
  .strictObject({
    driver: z.literal('mysql'),
    url: serverUrlSchema(['mysql:', 'mariadb:'], 'mysql://user@host:3306/database'),
    host: pathSchema
      .optional()
      .describe('Host name, or the absolute path of a Unix socket. Default: localhost.'),
    port: z.int().min(1).max(65_535).optional().describe('Default: 3306.'),
    database: z
      .string()
      .min(1)
      .optional()
      .describe('Database name: the schema that plain table names mean.'),
    user: z.string().min(1).optional().describe('Login; SELECT on the tables is all it needs.'),
    password: secretSchema.optional(),
    ssl: z
      .enum(['off', 'verify', 'no-verify'])
      .optional()
      .describe(
        'verify: encrypted, certificate and host name checked; no-verify: encrypted only; off. Default: verify, over a socket off.',
      ),
    ca: pathSchema
      .optional()
      .describe(
        'Certificate of the authority that signed the server’s, in PEM; relative to the project or absolute.',
      ),
    schemas: z
      .array(z.string())
      .min(1)
      .optional()
      .describe('Only these databases of the server. Default: the one of the connection.'),
    allow_functions: allowFunctionsSchema,
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
