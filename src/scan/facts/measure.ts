import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import { type Dialect, requireStatistics } from '../../sql/dialect.ts';
import { numberFromCell } from '../profile/column-profile.ts';
import { qualifiedTableName } from '../profile/profile-statement.ts';
import { timeLimitOf } from '../config.ts';
import type { ScanContext } from '../scan-context.ts';
import type { MeasuredNumbers } from '../scan-store.ts';
import type { ColumnFacts, TableFacts } from './table-facts.ts';

/**
 * A SELECT that returns one row of numbers. Its result is stored until one of its tables changes.
 */
export interface MeasurementQuery {
  readonly sql: string;
  readonly tables: readonly TableFacts[];
  /** Measurements of one group share statements. */
  readonly group: string;
}

/** One or more columns of one table. */
type ColumnTuple = readonly [ColumnFacts, ...ColumnFacts[]];

/** Columns that correspond by position. */
export interface ColumnPairing {
  readonly from: ColumnTuple;
  readonly to: ColumnTuple;
}

const measurementsPerStatement = 100;
/**
 * An engine may run all parts of a statement at once, and keep what each has sorted out: those over
 * large tables are not put into one.
 */
const rowsPerStatement = 5_000_000;
/**
 * A statement that takes too long is divided, but all its parts together get only this multiple of
 * its time limit.
 */
const timeLimitsPerBatch = 2;
/**
 * With this many times the rows of the child, only the part of the parent that the child refers to
 * is sorted out.
 */
const largeParentRatio = 4;

/**
 * Returns the results in the order of the queries; undefined if the engine could not answer. Sends
 * one statement per group, and several if the group has more than a hundred queries, or large
 * tables.
 */
export async function measureAll(
  queries: readonly MeasurementQuery[],
  context: ScanContext,
): Promise<(MeasuredNumbers | undefined)[]> {
  const hashed = queries.map((query) => ({ ...query, hash: measurementHash(query) }));
  const results = new Map(hashed.map(({ hash }) => [hash, context.store.measured(hash)]));
  const missing = hashed
    .filter(({ hash }) => results.get(hash) === undefined)
    .sort((a, b) => (a.group < b.group ? -1 : 1));
  const batches = Map.groupBy(
    missing,
    ({ group }, index) => `${group} ${Math.floor(index / measurementsPerStatement)}`,
  );
  for (const batch of batches.values()) {
    const hasView = batch.some(({ tables }) => tables.some(({ schema }) => schema.kind === 'view'));
    const seconds = timeLimitOf(hasView ? 'view' : 'table', context.config);
    const endsAt = Date.now() + seconds * 1000 * timeLimitsPerBatch;
    const batchResults: (MeasuredNumbers | undefined)[] = [];
    for (const part of splitByRows(batch))
      batchResults.push(...(await runBatch(part, context, endsAt)));
    for (const [index, { hash }] of batch.entries()) {
      const result = batchResults[index];
      results.set(hash, result);
      if (result) context.store.save(hash, result);
    }
  }
  return hashed.map(({ hash }) => results.get(hash));
}

/** In order, so that each part reads few rows or is one query. */
function splitByRows<Query extends MeasurementQuery>(batch: readonly Query[]): Query[][] {
  const parts: Query[][] = [];
  let sum = 0;
  for (const query of batch) {
    const rows = query.tables.reduce((total, table) => total + table.rows, 0);
    const last = parts.at(-1);
    if (last === undefined || sum + rows > rowsPerStatement) {
      parts.push([query]);
      sum = rows;
    } else {
      last.push(query);
      sum += rows;
    }
  }
  return parts;
}

function measurementHash({ sql, tables }: MeasurementQuery): string {
  return shortHash([sql, ...tables.map(({ version }) => version)].join('\n'), 32);
}

/**
 * Halves a batch that fails, until only the queries that cause the failure have no result, or until
 * `endsAt`: what is left then has no result either.
 */
async function runBatch(
  batch: readonly MeasurementQuery[],
  context: ScanContext,
  endsAt: number,
): Promise<(MeasuredNumbers | undefined)[]> {
  const { warehouse, config, signal } = context;
  const timeoutMs = Math.min(config.table_seconds * 1000, endsAt - Date.now());
  if (timeoutMs <= 0) return batch.map(() => undefined);
  const sql = batch
    .map((query, index) => `SELECT ${index} AS ktx_item, m.* FROM (${query.sql}) AS m`)
    .join(' UNION ALL ');
  try {
    context.onQuery();
    const limits = { maxRows: measurementsPerStatement, timeoutMs };
    const { rows } = await warehouse.query(sql, limits, signal);
    const results = new Map(
      rows.map(([index, ...cells]) => [
        numberFromCell(index),
        cells.map((cell) => numberFromCell(cell) ?? 0),
      ]),
    );
    return batch.map((_, index) => results.get(index));
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError) || error.exitCode === 4) throw error;
    if (batch.length === 1) return [undefined];
    const half = Math.ceil(batch.length / 2);
    return [
      ...(await runBatch(batch.slice(0, half), context, endsAt)),
      ...(await runBatch(batch.slice(half), context, endsAt)),
    ];
  }
}

/**
 * Measures how often the most frequent tuple without NULLs occurs: more than 1 means that the
 * columns are no key.
 */
export function uniquenessQuery(columns: ColumnTuple, dialect: Dialect): MeasurementQuery {
  const [{ table }] = columns;
  const name = qualifiedTableName(table.schema, dialect);
  const { fraction } = table.profile;
  const source = fraction < 1 ? requireStatistics(dialect).sample(name, fraction) : undefined;
  const names = columns.map((column) => dialect.quote(column.name));
  const notNull = names.map((column) => `${column} IS NOT NULL`).join(' AND ');
  const groups = `SELECT count(*) AS n FROM ${source ?? name} WHERE ${notNull} GROUP BY ${names.join(', ')}`;
  return { sql: `SELECT max(n) AS a FROM (${groups}) AS g`, tables: [table], group: '' };
}

/**
 * Measures how many of the child's values the parent has. The four numbers: child rows without
 * NULLs, those with a parent, distinct child tuples, those with a parent.
 */
export function containmentQuery({ from, to }: ColumnPairing, dialect: Dialect): MeasurementQuery {
  const [child, parent] = [from[0].table, to[0].table];
  const notNull = from.map(({ name }) => `${dialect.quote(name)} IS NOT NULL`).join(' AND ');
  const groups = dialect.groupsByPosition
    ? from.map((_, index) => index + 1)
    : comparableExpressions(from, to, dialect);
  const childValues = comparableColumns(from, to, { dialect, prefix: 'v' });
  const parentKeys = comparableColumns(to, from, { dialect, prefix: 'k' });
  const children = `SELECT ${childValues}, count(*) AS n FROM ${qualifiedTableName(child.schema, dialect)} WHERE ${notNull} GROUP BY ${groups.join(', ')}`;
  const isLargeParent = parent.rows > largeParentRatio * child.rows;
  const referred = isLargeParent ? ` WHERE ${referredKeys({ from, to }, dialect)}` : '';
  const parents = `SELECT DISTINCT ${parentKeys} FROM ${qualifiedTableName(parent.schema, dialect)}${referred}`;
  const numbers =
    'sum(c.n) AS a, sum(CASE WHEN p.k0 IS NULL THEN 0 ELSE c.n END) AS b, count(*) AS c, count(p.k0) AS d';
  const on = to.map((_, index) => `p.k${index} = c.v${index}`).join(' AND ');
  const sql = `SELECT ${numbers} FROM (${children}) AS c LEFT JOIN (${parents}) AS p ON ${on}`;
  return { sql, tables: [child, parent], group: to.map(({ id }) => id).join() };
}

/**
 * A condition on the parent: without it, the engine would hash every key of a parent that the child
 * hardly uses.
 */
function referredKeys({ from, to }: ColumnPairing, dialect: Dialect): string {
  const [key] = comparableExpressions([to[0]], [from[0]], dialect);
  const [value] = comparableExpressions([from[0]], [to[0]], dialect);
  const quoted = dialect.quote(from[0].name);
  const child = qualifiedTableName(from[0].table.schema, dialect);
  return `${key} IN (SELECT ${value} FROM ${child} WHERE ${quoted} IS NOT NULL)`;
}

/** A SELECT list with the aliases `<prefix>0`, `<prefix>1`… */
function comparableColumns(
  columns: readonly ColumnFacts[],
  others: readonly ColumnFacts[],
  { dialect, prefix }: { readonly dialect: Dialect; readonly prefix: string },
): string {
  return comparableExpressions(columns, others, dialect)
    .map((expression, index) => `${expression} AS ${prefix}${index}`)
    .join(', ');
}

/** Integers are compared as they are; other columns of different types are compared as text. */
function comparableExpressions(
  columns: readonly ColumnFacts[],
  others: readonly ColumnFacts[],
  dialect: Dialect,
): string[] {
  return columns.map((column, index) => {
    const other = others[index];
    const areIntegers = column.schema.type === 'integer' && other?.schema.type === 'integer';
    const quoted = dialect.quote(column.name);
    return areIntegers || baseType(column) === baseType(other)
      ? quoted
      : requireStatistics(dialect).text(quoted, column.schema.type);
  });
}

const baseType = (column: ColumnFacts | undefined): string =>
  column?.schema.nativeType.replace(/\(.*/, '').trim().toLowerCase() ?? '';
