import { UserError, errorMessage } from '../../lib/error.ts';
import type { ColumnSchema, TableSchema } from '../../warehouse/warehouse.ts';
import type { ScanContext } from '../scan-context.ts';
import { personalKinds } from '../personal/classify-column.ts';
import { columnPolicy } from './column-policy.ts';
import { columnProfile, emptyProfile } from './column-profile.ts';
import {
  profileStatement,
  readProfileResult,
  type TableSource,
  tableSource,
} from './profile-statement.ts';
import type { TableProfile } from './table-profile.ts';

/** Some engines take at most 100 arguments in one call. */
const columnsPerStatement = 90;

/**
 * The sample for a table whose profile took too long: it shows little of the values, but more than
 * nothing.
 */
const smallestShare = 0.01;

/**
 * Profiles a table with one aggregate statement, or several if it has more than 90 columns. A table
 * that is too large is sampled; if that takes too long, it is sampled once more with a smaller
 * share. A column that the engine cannot aggregate, and a table that cannot be read, get a note:
 * neither fails the scan.
 */
export async function profileTable(
  table: TableSchema,
  context: ScanContext,
): Promise<TableProfile> {
  const profile = await profileTableOnce(table, context);
  const smaller = tableSource(table, smallestShare, context.warehouse.dialect);
  const isFinal =
    profile.isSlow !== true ||
    context.signal.aborted ||
    smaller.share >= configuredShare(table, context);
  return isFinal ? profile : profileColumns(table.columns, smaller, context);
}

/**
 * Like `profileTable`, but without a second try: `isSlow` says that the time limit was exceeded.
 */
export function profileTableOnce(table: TableSchema, context: ScanContext): Promise<TableProfile> {
  const source = tableSource(table, configuredShare(table, context), context.warehouse.dialect);
  return profileColumns(table.columns, source, context);
}

/** The share of the rows to read under the limits of the configuration. */
function configuredShare(
  { rowEstimate = 0, bytes = 0 }: TableSchema,
  { config }: ScanContext,
): number {
  return Math.min(
    1,
    config.sample_rows / Math.max(1, rowEstimate),
    config.table_bytes / Math.max(1, bytes),
  );
}

/**
 * If a statement fails, halves the columns until only the columns that cause the failure are left
 * out.
 */
async function profileColumns(
  columns: readonly ColumnSchema[],
  source: TableSource,
  context: ScanContext,
): Promise<TableProfile> {
  if (columns.length > columnsPerStatement)
    return profileInParts(columns, columnsPerStatement, { source, context });
  try {
    return await runProfile(columns, source, context);
  } catch (error) {
    const code = error instanceof UserError ? error.code : '';
    const isTooMuch = tooMuch.has(code);
    const isUnreadable = isTooMuch || code === 'warehouse_privilege' || code === 'missing_object';
    const isFailedStatement = code === 'query_failed' || code === 'statement_too_long';
    if (context.signal.aborted || (!isUnreadable && !isFailedStatement)) throw error;
    if (!isUnreadable && columns.length > 1)
      return profileInParts(columns, Math.ceil(columns.length / 2), { source, context });
    return { ...unreadProfile(columns, errorMessage(error)), isSlow: isTooMuch };
  }
}

async function profileInParts(
  columns: readonly ColumnSchema[],
  firstPart: number,
  { source, context }: { readonly source: TableSource; readonly context: ScanContext },
): Promise<TableProfile> {
  const first = await profileColumns(columns.slice(0, firstPart), source, context);
  const rest =
    first.isSlow === true
      ? unreadProfile(columns.slice(firstPart), first.note)
      : await profileColumns(columns.slice(firstPart), source, context);
  return {
    ...first,
    rows: Math.max(first.rows, rest.rows),
    columns: [...first.columns, ...rest.columns],
    // A part that could be read makes the table readable.
    note: first.note === undefined ? undefined : rest.note,
  };
}

/** A smaller sample may help. */
const tooMuch: ReadonlySet<string> = new Set(['query_timeout', 'out_of_memory', 'too_expensive']);

/** The profile of columns that were not read. */
export function unreadProfile(
  columns: readonly ColumnSchema[],
  note: string | undefined,
): TableProfile {
  const profiles = columns.map((column) => ({ ...emptyProfile(column), note }));
  return { rows: 0, fraction: 1, columns: profiles, note };
}

async function runProfile(
  columns: readonly ColumnSchema[],
  source: TableSource,
  context: ScanContext,
): Promise<TableProfile> {
  const { warehouse, config, labels, signal, onQuery } = context;
  const sql = profileStatement(columns, source, warehouse.dialect);
  onQuery();
  const result = await warehouse.query(
    sql,
    { maxRows: 1, timeoutMs: config.table_seconds * 1000 },
    signal,
  );
  const { rows, columnResults } = readProfileResult(columns, result);
  const results = columns.map((column, index) => ({ column, ...columnResults(index) }));
  const kinds = personalKinds(
    results.map(({ column: { name, type }, firstValues: values }) => ({
      name,
      type,
      table: source.table.table,
      values,
    })),
  );
  const policySource = { settings: config, labels, connection: warehouse.connection };
  const profiles = results.map(({ column, ...measured }, index) =>
    columnProfile(column, {
      ...measured,
      rows,
      inferred: kinds[index],
      policy: columnPolicy(policySource, source.table, column.name),
    }),
  );
  return { rows, fraction: source.share, columns: profiles };
}
