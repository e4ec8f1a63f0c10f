import { UserError } from '../lib/error.ts';
import { shortHash } from '../lib/hash.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { Warehouse } from '../warehouse/warehouse.ts';
import type { ColumnFacts, TableFacts } from './facts.ts';
import { numberOf, tableName } from './profile.ts';
import type { ScanStore } from './store.ts';

/** A select that gives one row of four numbers; unchanged tables are not asked twice. */
export interface Measurement {
  readonly sql: string;
  readonly tables: readonly TableFacts[];
  /** Measurements of one group share a statement. */
  readonly group: string;
}

export type Measured = readonly [number, number, number, number];

export interface MeasureContext {
  readonly warehouse: Warehouse;
  readonly store: ScanStore;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onQuery: () => void;
}

const perStatement = 100;

/** Results in the order of the measurements; undefined where the engine could not answer. */
export async function measureAll(measurements: readonly Measurement[], context: MeasureContext): Promise<(Measured | undefined)[]> {
  const keyed = measurements.map((measurement) => ({ ...measurement, key: keyOf(measurement) }));
  const known = new Map(keyed.flatMap(({ key }) => [[key, context.store.measured(key)] as const]));
  const missing = keyed.filter(({ key }) => known.get(key) === undefined);
  for (const group of Map.groupBy(missing, ({ group: name }) => name).values()) {
    for (let start = 0; start < group.length; start += perStatement) {
      const batch = group.slice(start, start + perStatement);
      const results = await runBatch(batch, context);
      batch.forEach(({ key }, index) => {
        const result = results[index];
        known.set(key, result);
        if (result) context.store.remember(key, result);
      });
    }
  }
  return keyed.map(({ key }) => known.get(key));
}

function keyOf({ sql, tables }: Measurement): string {
  return shortHash([sql, ...tables.map(({ version }) => version)].join('\n'), 32);
}

async function runBatch(batch: readonly Measurement[], context: MeasureContext): Promise<(Measured | undefined)[]> {
  const sql = batch.map((item, index) => `SELECT ${index} AS item, m.* FROM (${item.sql}) AS m`).join(' UNION ALL ');
  try {
    context.onQuery();
    const { rows } = await context.warehouse.query(sql, { maxRows: perStatement, timeoutMs: context.timeoutMs }, context.signal);
    const results = new Map(rows.map(([item, ...cells]) => [numberOf(item), cells.map((cell) => numberOf(cell) ?? 0)]));
    return batch.map((_, index) => {
      const [a, b, c, d] = results.get(index) ?? [];
      return a === undefined ? undefined : [a, b ?? 0, c ?? 0, d ?? 0];
    });
  } catch (error) {
    if (context.signal.aborted || !(error instanceof UserError) || error.exitCode === 4) throw error;
    if (batch.length === 1) return [undefined];
    const half = Math.ceil(batch.length / 2);
    return [...(await runBatch(batch.slice(0, half), context)), ...(await runBatch(batch.slice(half), context))];
  }
}

/** Rows, distinct tuples among them, rows with a NULL in them. */
export function uniquenessOf(table: TableFacts, columns: readonly ColumnFacts[], dialect: Dialect): Measurement {
  const names = columns.map(({ schema }) => dialect.quote(schema.name));
  const from = sampledName(table, dialect);
  const present = names.map((name) => `${name} IS NOT NULL`).join(' AND ');
  const grouped = `SELECT count(*) AS n FROM ${from} WHERE ${present} GROUP BY ${names.join(', ')}`;
  return { sql: `SELECT sum(n) AS a, count(*) AS b, max(n) AS c, 0 AS d FROM (${grouped}) AS g`, tables: [table], group: 'keys' };
}

function sampledName(table: TableFacts, dialect: Dialect): string {
  const name = tableName(table.schema, dialect);
  return table.profile.fraction < 1 ? (dialect.statistics.sample(name, table.profile.fraction) ?? name) : name;
}

export interface Side {
  readonly table: TableFacts;
  readonly columns: readonly ColumnFacts[];
}

/** Child rows without NULLs, those with a parent, distinct child tuples, those with a parent. `to` must be unique. */
export function inclusionOf(from: Side, to: Side, dialect: Dialect): Measurement {
  const asText = from.columns.map((column, index) => baseType(column) !== baseType(to.columns[index]));
  const value = (column: ColumnFacts, index: number, alias: string): string => {
    const quoted = `${alias}${dialect.quote(column.schema.name)}`;
    return asText[index] ? dialect.statistics.text(quoted, column.schema.type) : quoted;
  };
  const own = from.columns.map((column, index) => `${value(column, index, '')} AS v${index}`).join(', ');
  const present = from.columns.map(({ schema }) => `${dialect.quote(schema.name)} IS NOT NULL`).join(' AND ');
  const positions = from.columns.map((_, index) => index + 1).join(', ');
  const keys = to.columns.map((column, index) => `${value(column, index, '')} AS k${index}`).join(', ');
  const on = to.columns.map((_, index) => `p.k${index} = c.v${index}`).join(' AND ');
  const child = `SELECT ${own}, count(*) AS n FROM ${tableName(from.table.schema, dialect)} WHERE ${present} GROUP BY ${positions}`;
  const parent = `SELECT DISTINCT ${keys} FROM ${tableName(to.table.schema, dialect)}`;
  const sums = 'sum(c.n) AS a, sum(CASE WHEN p.k0 IS NULL THEN 0 ELSE c.n END) AS b, count(*) AS c, count(p.k0) AS d';
  const columns = to.columns.map(({ schema }) => schema.name).join();
  return {
    sql: `SELECT ${sums} FROM (${child}) AS c LEFT JOIN (${parent}) AS p ON ${on}`,
    tables: [from.table, to.table],
    group: `${tableName(to.table.schema, dialect)} ${columns}`,
  };
}

const baseType = (column: ColumnFacts | undefined): string => column?.schema.nativeType.replace(/\(.*/, '').trim().toLowerCase() ?? '';
