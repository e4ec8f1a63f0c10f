import { z } from 'zod';
import type { LoggedStatement } from './statement-history.ts';

/** One row of an export: the statement; undefined for a row that is no question of a person. */
export type RecordedRow = LoggedStatement | undefined;

const text = z.string();
const textOrNull = z.string().nullish();

/** A row of `ACCOUNT_USAGE.QUERY_HISTORY`. */
const snowflakeSchema = z
  .looseObject({
    query_text: text,
    user_name: textOrNull,
    query_type: textOrNull,
    execution_status: textOrNull,
    query_tag: textOrNull,
    query_count: z.coerce.number().nullish(),
  })
  .refine(
    (row) => 'query_type' in row || 'execution_status' in row || 'query_parameterized_hash' in row,
  );

/** A row of `INFORMATION_SCHEMA.JOBS`. */
const bigquerySchema = z
  .looseObject({
    query: text.nullish(),
    user_email: text,
    job_type: textOrNull,
    statement_type: textOrNull,
    state: textOrNull,
    error_result: z.unknown().optional(),
  })
  .refine((row) => 'job_type' in row || 'statement_type' in row);

/** A row of `system.query_log`. */
const clickhouseSchema = z
  .looseObject({
    query: text,
    user: textOrNull,
    initial_user: textOrNull,
    type: z.union([z.string(), z.number()]).nullish(),
    query_kind: textOrNull,
    is_initial_query: z.union([z.number(), z.boolean()]).nullish(),
  })
  .refine((row) => 'normalized_query_hash' in row || 'query_kind' in row);

/** Any other log: the statement, and who ran it how often where the row says so. */
const plainSchema = z.looseObject({
  query: text.optional(),
  query_text: text.optional(),
  sql: text.optional(),
  user: textOrNull,
  calls: z.coerce.number().int().min(1).nullish().catch(undefined),
});

/**
 * Reads one row of a recorded history: of Snowflake, BigQuery or ClickHouse, told apart by their
 * columns, or of any log that has its statement in `query`, `query_text` or `sql`. Statements that
 * failed, that write, or that another query started are undefined. `unknown` if the row has no
 * statement.
 */
export function readRecordedRow(row: Readonly<Record<string, unknown>>): RecordedRow | 'unknown' {
  const record = Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const readers = [readSnowflake, readBigquery, readClickhouse];
  for (const read of readers) {
    const statement = read(record);
    if (statement !== 'unknown') return statement;
  }
  const plain = plainSchema.safeParse(record).data;
  const sql = plain?.query ?? plain?.query_text ?? plain?.sql;
  return sql === undefined ? 'unknown' : logged(sql, { user: plain?.user, runs: plain?.calls });
}

function readSnowflake(record: unknown): RecordedRow | 'unknown' {
  const row = snowflakeSchema.safeParse(record).data;
  if (row === undefined) return 'unknown';
  const { query_text: sql, query_type: type, execution_status: status } = row;
  const isAnswered = (status ?? 'SUCCESS').toUpperCase() === 'SUCCESS';
  const by = { user: row.user_name, runs: row.query_count };
  return isAnswered && isSelect(type) ? logged(sql, by) : undefined;
}

function readBigquery(record: unknown): RecordedRow | 'unknown' {
  const row = bigquerySchema.safeParse(record).data;
  if (row === undefined) return 'unknown';
  const isAnswered =
    (row.job_type ?? 'QUERY') === 'QUERY' &&
    (row.state ?? 'DONE') === 'DONE' &&
    (row.error_result ?? null) === null;
  const isAsked = isAnswered && isSelect(row.statement_type);
  return isAsked ? logged(row.query ?? '', { user: row.user_email }) : undefined;
}

function readClickhouse(record: unknown): RecordedRow | 'unknown' {
  const row = clickhouseSchema.safeParse(record).data;
  if (row === undefined) return 'unknown';
  const isAnswered = ['QueryFinish', '2'].includes(String(row.type ?? 'QueryFinish'));
  const isInitial = Number(row.is_initial_query ?? 1) !== 0;
  const isAsked = isAnswered && isInitial && isSelect(row.query_kind);
  return isAsked ? logged(row.query, { user: row.initial_user || row.user }) : undefined;
}

function isSelect(type: string | null | undefined): boolean {
  return (type ?? 'SELECT').toUpperCase() === 'SELECT';
}

function logged(
  sql: string,
  {
    user,
    runs,
  }: { readonly user?: string | null | undefined; readonly runs?: number | null | undefined },
): RecordedRow {
  if (sql.trim() === '') return undefined;
  const count = runs ?? 1;
  const login = user?.trim() ?? '';
  return { sql, runs: count, ...(login !== '' && { runsByUser: new Map([[login, count]]) }) };
}
