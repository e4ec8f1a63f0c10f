import { UserError } from '../../lib/error.ts';
import type { ModelDataset } from '../../semantic/model/model.ts';
import type { TableRef } from '../../sql/dialect.ts';
import type { QueryResult, Warehouse } from '../../warehouse/warehouse.ts';
import type { Project } from '../open/open.ts';
import { queryLimits, type WantedLimits } from './query.ts';

interface Asked extends WantedLimits {
  readonly connection: string;
  readonly sql: string;
}

/** The one way to run SQL that a person or an agent wrote. Where row rules restrict who asks, it may read only tables that have none. */
export async function runStatement(
  project: Project,
  asked: Asked,
  signal: AbortSignal,
): Promise<QueryResult> {
  const { connection, sql } = asked;
  const warehouse = await project.warehouse(connection, signal);
  await checkRowRules({ project, role: project.role }, warehouse, sql);
  return warehouse.query(sql, queryLimits(project, asked), signal);
}

interface Asking {
  readonly project: Pick<Project, 'model'>;
  /** Undefined for what is done for everyone, such as an ingest: then any rule restricts. */
  readonly role: string | undefined;
}

/** Throws where row rules restrict who asks for a table. What is no dataset's could be a view of one that has rules, so it is refused too. */
export async function checkRowRules(
  { project, role }: Asking,
  warehouse: Warehouse,
  sql: string,
): Promise<void> {
  const { model } = await project.model(warehouse.connection);
  if (!model.hasRules) return;
  const { seesAllRows: isOpen } = await import('../../semantic/resolve/row-rules.ts');
  const datasets = [...model.datasets.values()];
  if (model.excluded.size === 0 && datasets.every((dataset) => isOpen(dataset, role))) return;
  for (const table of await warehouse.reads(sql)) {
    const standing = datasets.filter((dataset) => standsOn(dataset, table, warehouse));
    const guarded = standing.find((dataset) => !isOpen(dataset, role));
    if (guarded !== undefined) {
      const who = role === undefined ? 'whoever asks' : `the role ${role}`;
      throw refused(
        `${guarded.name} has row rules for ${who}, which SQL of your own would not keep`,
        `Ask ktx sl query (query_metrics) for metrics of ${guarded.name}.`,
      );
    }
    if (standing.length > 0) continue;
    const name = `${table.schema}.${table.table}`;
    throw refused(
      `${name} is the table of no dataset, so it could show rows that the row rules hide`,
      `Ask ktx sl query (query_metrics), or give ${name} a dataset.`,
    );
  }
}

function standsOn(
  { relation }: ModelDataset,
  { catalog, schema, table }: TableRef,
  { dialect }: Warehouse,
): boolean {
  if (relation.kind === 'query') return false;
  const [name = '', ownSchema = dialect.defaultSchema, ownCatalog = catalog] =
    relation.parts.toReversed();
  const same = (one: string | undefined, other: string | undefined) =>
    one?.toLowerCase() === other?.toLowerCase();
  return same(name, table) && same(ownSchema, schema) && same(ownCatalog, catalog);
}

function refused(message: string, hint: string): UserError {
  return new UserError('row_rules', `Not sent: ${message}.`, { hint, exitCode: 2 });
}
