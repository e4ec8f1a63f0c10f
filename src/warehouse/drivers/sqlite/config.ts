import { z } from 'zod';
import { allowFunctionsSchema } from '../../allow-functions.ts';
import { pathSchema } from '../../database-file.ts';

export const sqliteConfigSchema = z.strictObject({
  driver: z.literal('sqlite'),
  path: pathSchema.describe('SQLite database file, relative to the project or absolute.'),
  allow_functions: allowFunctionsSchema,
});
export type SqliteConfig = z.infer<typeof sqliteConfigSchema>;
