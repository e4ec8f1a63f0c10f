import { z } from 'zod';
import { secretSchema } from '../../store/secrets.ts';
import { apiConfigKeys, baseUrlSchema, fullEverySchema } from '../http/config.ts';

export const confluenceConfigSchema = z
  .strictObject({
    driver: z.literal('confluence'),
    base_url: baseUrlSchema('token')
      .refine(
        (url) => !/\.atlassian\.net\/*$/.test(url),
        'the address of Confluence in the cloud ends with /wiki',
      )
      .describe(
        'The address of Confluence: https://<site>.atlassian.net/wiki of the cloud, or that of your own server.',
      ),
    email: z
      .email()
      .optional()
      .describe(
        'The address of the account that the token belongs to. Only for the cloud; a server of your own has none.',
      ),
    token: secretSchema.describe(
      'An API token of the account (cloud) or a personal access token (your own server): env:NAME, file:path or keychain:ktx/account.',
    ),
    spaces: z
      .array(z.string().regex(/^~?[\w.-]{1,255}$/, 'is no key of a space, like FIN'))
      .min(1)
      .optional()
      .describe(
        'The keys of the spaces to read, like FIN. Default: all spaces that are not personal.',
      ),
    labels: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Read only pages with one of these labels, like data-dictionary.'),
    pages: z
      .array(z.string().regex(/^\d+$/, 'is no id of a page: it is the number in its address'))
      .min(1)
      .optional()
      .describe('Read only these pages, by their ids, and everything below them.'),
    restricted: z
      .boolean()
      .optional()
      .describe(
        'True to read pages that Confluence shows only to some people. Everyone who has the project can then read them.',
      ),
    full_every: fullEverySchema,
    ...apiConfigKeys,
  })
  .refine(({ base_url: url, email }) => email !== undefined || !/\.atlassian\.net\//.test(url), {
    path: ['email'],
    message: 'the cloud needs the address of the account that the token belongs to',
  });
export type ConfluenceConfig = z.infer<typeof confluenceConfigSchema>;
