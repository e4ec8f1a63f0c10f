import { z } from 'zod';

/** The `history` section of a warehouse in `ktx.yaml`. */
export const historySchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        'Whether ktx reads what people ran on this warehouse: names of tables and columns, and how often. It keeps no literals and no names of people.',
      ),
    min_runs: z
      .int()
      .min(1)
      .default(5)
      .describe('Statements that ran less often, over all logins, do not count.'),
    exclude_users: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'Logins whose statements do not count, like svc_*, where * stands for any text. Logins of well-known tools never count.',
      ),
    exclude_statements: z
      .array(z.string().regex(/^[0-9a-f]{12}$/, 'an id that ktx history shows'))
      .default([])
      .describe('Statements that do not count, by the ids that `ktx history` shows.'),
  })
  .optional()
  .describe('What ktx may learn from the statements that people ran. Off without it.');
export type HistoryConfig = NonNullable<z.infer<typeof historySchema>>;
