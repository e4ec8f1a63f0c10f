import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import { type Dialect, requireStatistics } from '../../sql/dialect.ts';
import type { ColumnFacts, TableFacts } from './table-facts.ts';
import { numberOf, tableName, type ScanContext } from '../profile/profile-table.ts';

/** A select that gives one row of numbers; unchanged tables are not asked twice. Those of one group share a statement. */
type Measurement = {
  readonly sql: string;
  readonly tables: readonly TableFacts[];
  readonly group: string;
};

export type Measured = readonly number[];

const perStatement = 100;

/** Results in the order of the measurements; undefined where the engine could not answer. One statement a group, and one a hundred. */
export async function measureAll(
  measurements: readonly Measurement[],
  context: ScanContext,
): Promise<(Measured | undefined)[]> {
  const versioned = measurements.map((one) => ({
    ...one,
    hash: shortHash([one.sql, ...one.tables.map(({ version }) => version)].join('\n'), 32),
  }));
  const known = new Map(versioned.map(({ hash }) => [hash, context.store.measured(hash)]));
  const missing = versioned
    .filter(({ hash }) => known.get(hash) === undefined)
    .sort((a, b) => (a.group < b.group ? -1 : 1));
  for (const batch of Map.groupBy(
    missing,
    ({ group }, index) => `${group} ${Math.floor(index / perStatement)}`,
  ).values()) {
    const results = await runBatch(batch, context);
    for (const [index, { hash }] of batch.entries()) {
      const result = results[index];
      known.set(hash, result);
      if (result) context.store.save(hash, result);
    }
  }
  return versioned.map(({ hash }) => known.get(hash));
}

async function runBatch(
  batch: readonly Measurement[],
  context: ScanContext,
): Promise<(Measured | undefined)[]> {
  const { warehouse, config, signal } = context;
  const sql = batch
    .map((item, index) => `SELECT ${index} AS item, m.* FROM (${item.sql}) AS m`)
    .join(' UNION ALL ');
  try {
    context.onQuery();
    const { rows } = await warehouse.query(
      sql,
      { maxRows: perStatement, timeoutMs: config.table_seconds * 1000 },
      signal,
    );
    const results = new Map(
      rows.map(([item, ...cells]) => [numberOf(item), cells.map((cell) => numberOf(cell) ?? 0)]),
    );
    return batch.map((_, index) => results.get(index));
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError) || error.exitCode === 4) throw error;
    if (batch.length === 1) return [undefined];
    const half = Math.ceil(batch.length / 2);
    return [
      ...(await runBatch(batch.slice(0, half), context)),
      ...(await runBatch(batch.slice(half), context)),
    ];
  }
}

/** Rows of the most frequent tuple without NULLs. */
export function uniquenessQuery(columns: Columns, dialect: Dialect): Measurement {
  const [{ table }] = columns;
  const name = tableName(table.schema, dialect);
  const { fraction } = table.profile;
  const source = fraction < 1 ? requireStatistics(dialect).sample(name, fraction) : undefined;
  const names = columns.map((column) => dialect.quote(column.name));
  const present = names.map((column) => `${column} IS NOT NULL`).join(' AND ');
  const grouped = `SELECT count(*) AS n FROM ${source ?? name} WHERE ${present} GROUP BY ${names.join(', ')}`;
  return { sql: `SELECT max(n) AS a FROM (${grouped}) AS g`, tables: [table], group: '' };
}

type Columns = readonly [ColumnFacts, ...ColumnFacts[]];
/** Columns that correspond by position: one and one, or tuples. */
export type ColumnPairing = { readonly from: Columns; readonly to: Columns };

/** Child rows without NULLs, those with a parent; distinct child tuples, those with a parent. */
export function containmentQuery({ from, to }: ColumnPairing, dialect: Dialect): Measurement {
  const values = (
    columns: readonly ColumnFacts[],
    others: readonly ColumnFacts[],
    letter: string,
  ): string => {
    const selected = columns.map((column, index) => {
      const quoted = dialect.quote(column.name);
      const value =
        baseType(column) === baseType(others[index])
          ? quoted
          : requireStatistics(dialect).text(quoted, column.schema.type);
      return `${value} AS ${letter}${index}`;
    });
    return selected.join(', ');
  };
  const [child, parent] = [from[0].table, to[0].table];
  const present = from.map(({ name }) => `${dialect.quote(name)} IS NOT NULL`).join(' AND ');
  const positions = from.map((_, index) => index + 1).join(', ');
  const counted = `SELECT ${values(from, to, 'v')}, count(*) AS n FROM ${tableName(child.schema, dialect)} WHERE ${present} GROUP BY ${positions}`;
  const keys = `SELECT DISTINCT ${values(to, from, 'k')} FROM ${tableName(parent.schema, dialect)}`;
  const sums =
    'sum(c.n) AS a, sum(CASE WHEN p.k0 IS NULL THEN 0 ELSE c.n END) AS b, count(*) AS c, count(p.k0) AS d';
  const on = to.map((_, index) => `p.k${index} = c.v${index}`).join(' AND ');
  const sql = `SELECT ${sums} FROM (${counted}) AS c LEFT JOIN (${keys}) AS p ON ${on}`;
  return { sql, tables: [child, parent], group: to.map(({ id }) => id).join() };
}

const baseType = (column: ColumnFacts | undefined): string =>
  column?.schema.nativeType.replace(/\(.*/, '').trim().toLowerCase() ?? '';
