import { z } from 'zod';
import { carriesNone, type ToolDefinition } from './tool.ts';

/** Why the data holds no answer. */
const refusalReasons = [
  'missing_data',
  'no_definition',
  'ambiguous',
  'not_allowed',
  'not_about_data',
] as const;

export const refusalSchema = z.strictObject({
  reason: z.enum(refusalReasons),
  missing: z
    .string()
    .trim()
    .min(1)
    .max(1000)
    .describe('What would have to be there: a table, a definition, a choice of the person.'),
});

/** How an agent says in a form that code can read that it has no answer. */
export const cannotAnswer: ToolDefinition<typeof refusalSchema> = {
  name: 'cannot_answer',
  description:
    'Records that the data cannot answer the question. Call it first, then say so in words, ' +
    'without a number.',
  effect: 'context',
  inputSchema: refusalSchema,
  itemsName: 'text',
  isShort: true,
  run() {
    return Promise.resolve({
      summary: 'Recorded. Now tell the person what is missing.',
      trust: { status: 'ad_hoc' as const },
      items: [],
      values: carriesNone,
    });
  },
};
