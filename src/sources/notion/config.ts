import { z } from 'zod';
import { secretSchema } from '../../store/secrets.ts';
import { apiConfigKeys, baseUrlSchema, fullEverySchema } from '../http/config.ts';
import { notionId } from './notion-id.ts';

export const notionConfigSchema = z.strictObject({
  driver: z.literal('notion'),
  token: secretSchema.describe(
    'The secret of an internal integration of Notion that may read content: env:NAME, file:path or keychain:ktx/account.',
  ),
  roots: z
    .array(
      z
        .string()
        .refine((text) => notionId(text) !== undefined, 'is no address and no id of a Notion page'),
    )
    .min(1)
    .optional()
    .describe(
      'Pages and databases of Notion to read with everything below them, as addresses or ids. Default: everything that is shared with the integration.',
    ),
  databases: z
    .enum(['rows', 'schema', 'off'])
    .optional()
    .describe(
      'What to read of databases: their rows and the pages behind them, only their properties, or nothing. Default: rows, and only the properties of a database with more than 200 rows.',
    ),
  base_url: baseUrlSchema('token')
    .optional()
    .describe('The address of the Notion API behind a proxy of your own.'),
  full_every: fullEverySchema,
  ...apiConfigKeys,
});
export type NotionConfig = z.infer<typeof notionConfigSchema>;
