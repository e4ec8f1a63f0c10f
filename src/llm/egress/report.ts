import type { DatabaseSync } from 'node:sqlite';

/** What the lines of a report stand for. */
export const egressGroupings = ['column', 'run', 'stage', 'day', 'call'] as const;
export type EgressGrouping = (typeof egressGroupings)[number];

/** Values that went to one model, summed. A key that the grouping leaves out is undefined. */
export interface EgressLine {
  readonly day?: string;
  readonly run?: string;
  readonly call?: string;
  readonly stage?: string;
  readonly connection: string;
  readonly source?: string;
  readonly column?: string;
  readonly kind: string;
  readonly backend: string;
  readonly host: string;
  /** How many times values were sent: prompts and answers of tools. */
  readonly sent: number;
  readonly values: number;
  /** ISO times; of old lines only the day, the month or the year. */
  readonly first: string;
  readonly last: string;
}

const places = ['connection', 'source', 'col', 'kind'];
const columnsByGrouping: Readonly<Record<EgressGrouping, readonly string[]>> = {
  column: places,
  run: ['run', ...places],
  stage: ['stage', 'connection', 'kind'],
  day: ['day', 'connection', 'kind'],
  call: ['run', 'call', 'stage', ...places],
};

/**
 * One line for each group, the one with the most values first; runs, calls and days the latest
 * first.
 */
export function egressReport(db: DatabaseSync, grouping: EgressGrouping = 'column'): EgressLine[] {
  const columns = [...columnsByGrouping[grouping], 'backend', 'host'];
  const isTimed = grouping !== 'column' && grouping !== 'stage';
  const order = isTimed ? 'max(id) DESC' : 'sum(vals) DESC, sum(calls) DESC';
  const rows = db
    .prepare(
      `SELECT ${columns.join(', ')}, sum(calls) AS sent, sum(vals) AS vals, min(at) AS first, max(at) AS last
       FROM (SELECT substr(at, 1, 10) AS day, * FROM sent)
       GROUP BY ${columns.join(', ')} ORDER BY ${order}, ${columns.join(', ')}`,
    )
    .all();
  return rows.map(({ col, vals, ...row }) => ({
    ...(row as unknown as Omit<EgressLine, 'column' | 'values'>),
    ...(col === undefined ? {} : { column: String(col) }),
    values: Number(vals),
  }));
}
