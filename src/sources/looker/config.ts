import { z } from 'zod';
import { secretSchema } from '../../store/secrets.ts';
import { apiConfigKeys, baseUrlSchema } from '../http/config.ts';

export const lookerConfigSchema = z.strictObject({
  driver: z.literal('looker'),
  base_url: baseUrlSchema('client_secret').describe(
    'The address of Looker, like https://company.looker.com.',
  ),
  client_id: secretSchema.describe(
    'The client id of an API key of Looker (Admin, Users, API keys): env:NAME, file:path or keychain:ktx/account.',
  ),
  client_secret: secretSchema.describe('The client secret of the same key, as a reference.'),
  warehouse: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The connection of the warehouse that has the tables. Needed if several warehouses have tables with these names.',
    ),
  lookml: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The connection that reads the LookML of the same project. Then the repository counts, and Looker adds looks, dashboards and use.',
    ),
  include: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Folders to read, as glob patterns over their paths, like `Shared/Finance/**`.'),
  usage: z
    .enum(['90d', 'off'])
    .default('90d')
    .describe(
      'Whether to read from System Activity how often looks and dashboards ran in 90 days. Needs the permission see_system_activity.',
    ),
  ...apiConfigKeys,
});
export type LookerConfig = z.infer<typeof lookerConfigSchema>;
