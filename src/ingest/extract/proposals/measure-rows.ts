import type { CatalogTable } from '../../../context/catalog/catalog.ts';
import { datasetNames } from '../../../context/catalog/dataset-names.ts';
import type { NamedDataset } from '../../../context/claims/name-index.ts';
import { UserError } from '../../../lib/error.ts';
import { qualifiedTableName } from '../../../scan/profile/profile-statement.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { findDialect } from '../../../sql/dialects.ts';
import type { Snapshot } from '../../project-snapshot.ts';
import { refusal } from './resolve-names.ts';

/** A join as a model proposes it: fields of `from`, each with the field of `to` that it equals. */
interface ProposedJoin {
  readonly from: NamedDataset;
  readonly to: NamedDataset;
  readonly pairs: readonly (readonly [field: string, toField: string])[];
}

/** Of the distinct values that refer, the share that has to be there. */
const leastContainment = 0.9;
const timeoutMs = 30_000;

/**
 * Refuses a join that the rows contradict: values without a match, or several rows for one value.
 * Where a side has no rows there is nothing to measure, and a join is refused as well: words alone
 * prove none.
 */
export async function measureJoin(
  snapshot: Snapshot,
  { from, to, pairs }: ProposedJoin,
  signal: AbortSignal,
): Promise<void> {
  const { dialect, ...child } = columnsOf(
    snapshot,
    from,
    pairs.map(([field]) => field),
  );
  const parent = columnsOf(
    snapshot,
    to,
    pairs.map(([, field]) => field),
  );
  const join = `${from.dataset} to ${to.dataset}`;
  const [values = 0, found = 0, most = 0] = await runMeasurement(
    snapshot,
    { connection: from.connection, sql: joinStatement(child, parent, dialect), claim: join },
    signal,
  );
  if (values === 0)
    throw refusal(
      `There are no rows that could show whether ${join} is right: leave the join out.`,
    );
  const share = found / values;
  if (share < leastContainment)
    throw refusal(
      `The rows do not bear out ${join}: too few of the values match. Check the columns, or leave it out.`,
    );
  if (most > 1)
    throw refusal(
      `The rows do not bear out ${join}: ${to.dataset} has several rows for one value.`,
    );
}

interface Side {
  readonly table: CatalogTable;
  readonly columns: readonly string[];
}

/** A key as a model proposes it. */
interface ProposedKey {
  readonly owner: NamedDataset;
  readonly fields: readonly string[];
}

/** Refuses a key that the rows contradict: several rows have it, or one has none. */
export async function measureKey(
  snapshot: Snapshot,
  { owner, fields }: ProposedKey,
  signal: AbortSignal,
): Promise<void> {
  const { table, columns, dialect } = columnsOf(snapshot, owner, fields);
  const key = `the key ${fields.join(', ')} of ${owner.dataset}`;
  const quoted = columns.map((column) => dialect.quote(column));
  const missing = quoted.map((column) => `${column} IS NULL`).join(' OR ');
  const groups = [
    `SELECT count(*) AS n, sum(CASE WHEN ${missing} THEN 1 ELSE 0 END) AS m`,
    `FROM ${qualifiedTableName(table, dialect)} GROUP BY ${quoted.join(', ')}`,
  ];
  const sql = `SELECT max(n) AS a, sum(m) AS b FROM (${groups.join(' ')}) AS g`;
  const [most = 0, empty = 0] = await runMeasurement(
    snapshot,
    { connection: owner.connection, sql, claim: key },
    signal,
  );
  if (most === 0)
    throw refusal(`There are no rows that could show whether ${key} is right: leave the key out.`);
  if (most > 1 || empty > 0)
    throw refusal(`The rows do not bear out ${key}: it does not tell the rows apart.`);
}

/** The columns behind fields, with the dialect of their warehouse. */
function columnsOf(
  snapshot: Snapshot,
  owner: NamedDataset,
  fields: readonly string[],
): Side & { readonly dialect: Dialect } {
  const catalog = snapshot.catalogs.find(({ connection }) => connection === owner.connection);
  if (catalog === undefined) throw refusal(`${owner.connection} has not been read yet.`);
  const names = datasetNames(catalog);
  const table = catalog.tables.find((own) => names.dataset(own) === owner.dataset);
  const columns = fields.flatMap(
    (field) => table?.columns.find(({ name }) => names.field(table, name) === field)?.name ?? [],
  );
  if (table === undefined || columns.length < fields.length)
    throw refusal(
      `Only columns can be joined or be a key: ${owner.dataset} computes one of these fields.`,
    );
  return { table, columns, dialect: findDialect(catalog.dialect) };
}

/** One row: distinct values of the child, those that the parent has, rows of the parent for one. */
function joinStatement(child: Side, parent: Side, dialect: Dialect): string {
  const nameOf = (table: CatalogTable) => qualifiedTableName(table, dialect);
  const listOf = (columns: readonly string[]) =>
    columns.map((column, index) => `${dialect.quote(column)} AS k${index}`).join(', ');
  const presentIn = (columns: readonly string[]) =>
    columns.map((column) => `${dialect.quote(column)} IS NOT NULL`).join(' AND ');
  const keys = parent.columns.map((column) => dialect.quote(column)).join(', ');
  const children = [
    `SELECT DISTINCT ${listOf(child.columns)} FROM ${nameOf(child.table)}`,
    `WHERE ${presentIn(child.columns)}`,
  ];
  const parents = [
    `SELECT ${listOf(parent.columns)}, count(*) AS n FROM ${nameOf(parent.table)}`,
    `WHERE ${presentIn(parent.columns)} GROUP BY ${keys}`,
  ];
  const on = child.columns.map((_, index) => `p.k${index} = c.k${index}`).join(' AND ');
  return [
    'SELECT count(*) AS a, count(p.n) AS b, max(p.n) AS m',
    `FROM (${children.join(' ')}) AS c LEFT JOIN (${parents.join(' ')}) AS p ON ${on}`,
  ].join(' ');
}

interface Measurement {
  readonly connection: string;
  readonly sql: string;
  /** What is measured, for errors. */
  readonly claim: string;
}

async function runMeasurement(
  snapshot: Snapshot,
  { connection, sql, claim }: Measurement,
  signal: AbortSignal,
): Promise<readonly number[]> {
  try {
    const warehouse = await snapshot.warehouse(connection);
    const { rows } = await warehouse.query(sql, { maxRows: 1, timeoutMs }, signal);
    return (rows[0] ?? []).map((cell) => Number(cell ?? 0));
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    throw refusal(`It cannot be measured whether ${claim} is right: leave it out.`);
  }
}
