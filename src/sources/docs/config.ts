import { z } from 'zod';
import { globSchema } from '../../lib/patterns/glob.ts';

export const docsConfigSchema = z.strictObject({
  driver: z.literal('docs'),
  path: z
    .string()
    .min(1)
    .describe(
      'A folder of Markdown, MDX or HTML files, or one file. Relative to the project or absolute.',
    ),
  include: z
    .array(globSchema)
    .min(1)
    .optional()
    .describe('Read only files that match one of these globs, like guides/**. Default: all files.'),
});
export type DocsConfig = z.infer<typeof docsConfigSchema>;
