import { z } from 'zod';
import { globSchema } from '../../lib/patterns/glob.ts';
import { secretSchema } from '../../store/secrets.ts';
import { apiConfigKeys, baseUrlSchema } from '../http/config.ts';

export const metabaseConfigSchema = z.strictObject({
  driver: z.literal('metabase'),
  base_url: baseUrlSchema('api_key').describe(
    'The address of Metabase, like https://metabase.example.com.',
  ),
  api_key: secretSchema.describe(
    'An API key of Metabase (Admin settings, Authentication, API keys): env:NAME, file:path or keychain:ktx/account. A group that may only view is enough.',
  ),
  databases: z
    .record(z.string().regex(/^\d+$/), z.string().min(1))
    .optional()
    .describe(
      'The connection of the warehouse for each database, by its number in Metabase: {"3": warehouse}. Questions about other databases are kept without a link to tables.',
    ),
  include: z
    .array(globSchema)
    .min(1)
    .optional()
    .describe('Collections to read, as glob patterns over their paths, like `Finance/**`.'),
  ...apiConfigKeys,
});
export type MetabaseConfig = z.infer<typeof metabaseConfigSchema>;
