import { join } from 'node:path';
import { z } from 'zod';
import { canonicalJson, parseJson } from '../../lib/json.ts';
import { readText } from '../../store/files.ts';
import { tableKey, type TableRef } from '../../sql/dialect.ts';

/** Steps of a count, so that a day's use changes nothing. */
const buckets = ['1+', '10+', '100+', '1k+', '10k+', '100k+', '1M+'] as const;
type UsageBucket = (typeof buckets)[number];

export function usageBucket(count: number): UsageBucket {
  const step = Math.floor(Math.log10(Math.max(1, count)) + 1e-9);
  return buckets[Math.min(step, buckets.length - 1)] ?? '1+';
}

/** From 0 for no use to 1. */
export function usageWeight(bucket: UsageBucket | undefined): number {
  return bucket === undefined ? 0 : (buckets.indexOf(bucket) + 1) / buckets.length;
}

const tableUsageSchema = z.object({
  catalog: z.string().optional(),
  schema: z.string(),
  table: z.string(),
  runs: z.enum(buckets),
  /** Missing if the log does not tell who ran a statement. */
  users: z.enum(buckets).optional(),
  /** By column. */
  columns: z.record(z.string(), z.enum(buckets)),
  /** Conditions that many or most queries with aggregates over the table have. */
  filters: z.array(
    z.object({
      column: z.string(),
      operator: z.enum(['equals', 'differs', 'range', 'in', 'like', 'null', 'flag']),
      of: z.enum(['many', 'most']),
    }),
  ),
});
/** How much people use a table: a line of `sources/<connection>/history/usage.jsonl`. */
export type TableUsage = Readonly<z.infer<typeof tableUsageSchema>>;

export function usagePath(connection: string): string {
  return `sources/${connection}/history/usage.jsonl`;
}

export function usageText(tables: readonly TableUsage[]): string {
  return tables
    .toSorted((a, b) => (tableKey(a) < tableKey(b) ? -1 : 1))
    .map((line) => `${canonicalJson(line)}\n`)
    .join('');
}

/** Finds how much people use a table. */
type FindUsage = (table: TableRef) => TableUsage | undefined;

/** Reads the usage file. */
export async function loadUsage(projectDir: string, connection: string): Promise<FindUsage> {
  return findUsageIn((await readText(join(projectDir, usagePath(connection)), projectDir)) ?? '');
}

/** In the text of a usage file; lines that ktx did not write are skipped. */
export function findUsageIn(text: string): FindUsage {
  const lines = text.split('\n').flatMap((line) => {
    const { data } = tableUsageSchema.safeParse(parseJson(line));
    return data === undefined ? [] : [data];
  });
  const byTable = new Map(lines.map((line) => [tableKey(line), line]));
  return (table) => byTable.get(tableKey(table));
}

/** The filters in words: `status (most), placed_at (many)`; undefined without any. */
export function describeFilters({ filters }: Pick<TableUsage, 'filters'>): string | undefined {
  if (filters.length === 0) return undefined;
  return filters.map(({ column, of }) => `${column} (${of})`).join(', ');
}
