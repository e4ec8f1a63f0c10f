import { z } from 'zod';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { tableScopeKeys } from '../../scope/table-scope.ts';
import { pathSchema } from '../../database-file.ts';
import type { DriverDescription } from '../../driver-description.ts';

export const sqliteConfigSchema = z.strictObject({
  driver: z.literal('sqlite'),
  path: pathSchema.describe('SQLite database file, relative to the project or absolute.'),
  allow_functions: allowFunctionsSchema,
  ...tableScopeKeys,
});
export type SqliteConfig = z.infer<typeof sqliteConfigSchema>;

export const sqliteDriver = {
  name: 'sqlite',
  title: 'SQLite',
  config: sqliteConfigSchema,
  examples: [['--driver sqlite --path crm.db', 'a SQLite file']],
  systemNames: /^(?:sqlite_|pragma_)/i,
  file: { signature: 'SQLite format 3' },
} as const satisfies DriverDescription;
