import { z } from 'zod';
import type { TableSchema } from '../warehouse/warehouse.ts';

/** The `scan` section of `ktx.yaml`. */
export const scanConfigSchema = z.strictObject({
  max_age: z
    .string()
    .regex(/^\d+[mhd]$/, 'a number with m, h or d, for example 24h')
    .default('24h')
    .describe(
      'How long to reuse the profile of a table if the engine cannot tell whether the table changed: a number with m, h or d.',
    ),
  sample_rows: z
    .int()
    .min(1_000)
    .default(5_000_000)
    .describe(
      'Of a table with more rows than this, ktx profiles a sample of about this many rows.',
    ),
  table_bytes: z
    .int()
    .min(1_000_000)
    .default(4_000_000_000)
    .describe(
      'Of a table with more bytes than this, as the engine counts them, ktx profiles a sample of about this size.',
    ),
  table_seconds: z
    .int()
    .min(1)
    .default(120)
    .describe(
      'Time limit for the profile of one table. If it takes longer, ktx tries once more with a small sample.',
    ),
  max_seconds: z
    .number()
    .positive()
    .optional()
    .describe(
      'Time that one scan may spend on profiles. The next scan continues with the remaining tables. Default: no limit.',
    ),
  max_bytes: z
    .number()
    .positive()
    .optional()
    .describe(
      'Bytes of tables, as the engine counts them, that one scan may profile. The next scan continues with the remaining tables. Default: no limit.',
    ),
  views: z
    .boolean()
    .default(true)
    .describe(
      'Whether to profile views, after the tables and within the same limits, and to find their relationships. A warehouse with nothing but views is always profiled.',
    ),
  send_samples: z
    .boolean()
    .default(true)
    .describe(
      'Whether a scan or an ingest may send values of columns to the configured LLM: the smallest, largest and most frequent, declared ones, and names of groups. It never sends values of columns that it takes for personal.',
    ),
  no_values: z
    .array(
      z
        .string()
        .regex(/^[^.]+\.[^.]+(\.[^.]+)?$/, 'table.column or schema.table.column, * for any'),
    )
    .default([])
    .describe(
      'Columns whose values ktx must not keep on this machine, nor send to a model in a scan or an ingest: table.column or schema.table.column, where * stands for any name.',
    ),
  not_personal: z
    .array(
      z
        .string()
        .regex(/^[^.]+\.[^.]+(\.[^.]+)?$/, 'table.column or schema.table.column, * for any'),
    )
    .default([])
    .describe(
      'Columns that are not personal although ktx takes them for it: table.column or schema.table.column, where * stands for any name.',
    ),
  query_logs: z
    .array(z.string())
    .default([])
    .describe(
      'Files of SQL that people ran, relative to the project. Joins in them are evidence for relationships. Either statements that end with ;, or .jsonl.',
    ),
  accept: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('ktx accepts a relationship with at least this probability.'),
  review: z
    .number()
    .min(0)
    .max(1)
    .default(0.2)
    .describe('ktx proposes a relationship with at least this probability for review.'),
});

export type ScanConfig = Readonly<z.infer<typeof scanConfigSchema>>;

export function milliseconds(age: string): number {
  const unit = { m: 60_000, h: 3_600_000, d: 86_400_000 }[age.at(-1) ?? ''] ?? 0;
  return Number.parseInt(age, 10) * unit;
}

/** In seconds. Behind a view can be any query, which each statement computes anew. */
const viewSeconds = 5;

/** The time limit of one statement that reads such a table, in seconds. */
export function timeLimitOf(
  kind: TableSchema['kind'],
  { table_seconds: seconds }: Pick<ScanConfig, 'table_seconds'>,
): number {
  return kind === 'view' ? Math.min(seconds, viewSeconds) : seconds;
}
