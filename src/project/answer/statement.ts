import { UserError } from '../../lib/error.ts';
import type { ModelDataset } from '../../semantic/model/model.ts';
import { type Dialect, fullTableName, type TableRef } from '../../sql/dialect.ts';
import type { QueryResult, Warehouse } from '../../warehouse/warehouse.ts';
import type { Project } from '../open/open.ts';
import { resolveQueryLimits, type RequestedLimits } from './query.ts';

interface StatementRequest extends RequestedLimits {
  readonly connection: string;
  readonly sql: string;
}

/**
 * Runs SQL that a person or an agent wrote; there is no other way to run it. If row rules restrict
 * the role, the statement may read only tables without rules.
 */
export async function runStatement(
  project: Project,
  request: StatementRequest,
  signal: AbortSignal,
): Promise<QueryResult> {
  const { connection, sql } = request;
  const warehouse = await project.warehouse(connection, signal);
  await checkRowRules({ project, role: project.role }, warehouse, sql);
  return warehouse.query(sql, resolveQueryLimits(project, request), signal);
}

interface RowRuleScope {
  readonly project: Pick<Project, 'model'>;
  /** Undefined for work on behalf of everyone, such as an ingest: then every rule restricts. */
  readonly role: string | undefined;
}

/**
 * Throws if the statement reads a table whose rows a rule hides from the role. A table without a
 * dataset is refused as well, because it could be a view of a table with rules.
 */
export async function checkRowRules(
  { project, role }: RowRuleScope,
  warehouse: Warehouse,
  sql: string,
): Promise<void> {
  const { model } = await project.model(warehouse.connection);
  if (!model.hasRules) return;
  const { seesAllRows } = await import('../../semantic/resolve/row-rules.ts');
  const datasets = [...model.datasets.values()];
  const isUnrestricted = datasets.every((dataset) => seesAllRows(dataset, role));
  if (model.excluded.size === 0 && isUnrestricted) return;
  const tables = await warehouse.reads(sql);
  for (const table of tables) {
    const named = { table, dialect: warehouse.dialect };
    const onTable = datasets.filter((dataset) => isOnTable(dataset, named));
    const restricted = onTable.find((dataset) => !seesAllRows(dataset, role));
    if (restricted !== undefined) throw restrictedDataset(restricted.name, role);
    // A view "Customers" is not the table customers, where the engine tells them apart.
    const isExact =
      !warehouse.dialect.ignoresCase ||
      tables.some(({ table: name }) => isNamesake(table.table, name));
    if (!onTable.some((dataset) => isOnTable(dataset, { ...named, isExact })))
      throw tableWithoutDataset(fullTableName(table));
  }
}

/** True for two names that differ only in case. */
const isNamesake = (left: string, right: string): boolean =>
  left !== right && left.toLowerCase() === right.toLowerCase();

interface NamedTable {
  readonly table: TableRef;
  readonly dialect: Dialect;
  /** Whether the case of letters counts. */
  readonly isExact?: boolean;
}

/** A dataset that names no catalog is on a table of the connection's own one. */
function isOnTable({ relation }: ModelDataset, { table: ref, dialect, isExact }: NamedTable) {
  if (relation.kind === 'query') return false;
  const { catalog, schema, table } = ref;
  const [ownTable = '', ownSchema = dialect.defaultSchema, ownCatalog] =
    relation.parts.toReversed();
  const isSameName = (left: string | undefined, right: string | undefined) =>
    left === right || (isExact !== true && left?.toLowerCase() === right?.toLowerCase());
  return (
    isSameName(ownTable, table) && isSameName(ownSchema, schema) && isSameName(ownCatalog, catalog)
  );
}

function restrictedDataset(dataset: string, role: string | undefined): UserError {
  const who = role === undefined ? 'everyone' : `the role ${role}`;
  return rowRuleError(
    `${dataset} has row rules for ${who}, and SQL of your own would bypass them`,
    `Ask ktx sl query (query_metrics) for metrics of ${dataset}.`,
  );
}

function tableWithoutDataset(table: string): UserError {
  return rowRuleError(
    `no dataset is defined on ${table}, so it could show rows that the row rules hide`,
    `Use ktx sl query (query_metrics), or define a dataset on ${table}.`,
  );
}

function rowRuleError(message: string, hint: string): UserError {
  return new UserError('row_rules', `Not sent: ${message}.`, { hint, exitCode: 2 });
}
