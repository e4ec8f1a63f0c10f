import { z } from 'zod';

/** The `scan` section of `ktx.yaml`. */
export const scanConfigSchema = z.strictObject({
  max_age: z
    .string()
    .regex(/^\d+[mhd]$/, 'a number with m, h or d, for example 24h')
    .default('24h')
    .describe(
      'How long a profile of a table without a change marker is reused: a number with m, h or d.',
    ),
  sample_rows: z
    .int()
    .min(1_000)
    .default(5_000_000)
    .describe('Rows of a table above which a sample of about this size is profiled.'),
  table_bytes: z
    .int()
    .min(1_000_000)
    .default(4_000_000_000)
    .describe(
      'Bytes of a table, as the engine counts them, above which a sample of about this size is profiled.',
    ),
  table_seconds: z
    .int()
    .min(1)
    .default(120)
    .describe(
      'Time limit for the profile of one table; one that takes longer is tried once more on a small sample.',
    ),
  max_seconds: z
    .number()
    .positive()
    .optional()
    .describe(
      'Time that one scan may spend on profiles; what is left then, the next scan goes on with. Default: no limit.',
    ),
  max_bytes: z
    .number()
    .positive()
    .optional()
    .describe(
      'Bytes of tables, as the engine counts them, that one scan may profile; what is left then, the next scan goes on with.',
    ),
  views: z
    .boolean()
    .default(false)
    .describe('Profile views too, and propose their links; done where there is nothing but views.'),
  send_samples: z
    .boolean()
    .default(true)
    .describe(
      'Whether the least, greatest and frequent values of a column may go to the configured LLM; those that look personal are held back.',
    ),
  no_values: z
    .array(
      z
        .string()
        .regex(/^[^.]+\.[^.]+(\.[^.]+)?$/, 'table.column or schema.table.column, * for any'),
    )
    .default([])
    .describe(
      'Columns of which no values are kept on this machine, as table.column or schema.table.column; * stands for any name.',
    ),
  query_logs: z
    .array(z.string())
    .default([])
    .describe(
      'Files of SQL that people ran, relative to the project: what they joined speaks for a relationship. SQL with ; after each, or .jsonl.',
    ),
  accept: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('Probability from which a link is accepted.'),
  review: z
    .number()
    .min(0)
    .max(1)
    .default(0.2)
    .describe('Probability from which a link is proposed for review.'),
});

export type ScanConfig = Readonly<z.infer<typeof scanConfigSchema>>;

export function milliseconds(age: string): number {
  const unit = { m: 60_000, h: 3_600_000, d: 86_400_000 }[age.at(-1) ?? ''] ?? 0;
  return Number.parseInt(age, 10) * unit;
}
