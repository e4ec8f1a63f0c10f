import type { Catalog, CatalogTable } from '../../context/catalog/catalog.ts';
import { subjects, type Claim } from '../../context/claims/claim.ts';
import { parseSavedQuerySubject, savedQueryPath } from '../../context/claims/saved-query-claims.ts';
import { UserError } from '../../lib/error.ts';
import {
  columnIdentity,
  metricAddress,
  type ModelDataset,
  type ModelMetric,
  type SemanticModel,
} from '../../semantic/model/model.ts';
import { sampleParameters } from '../../semantic/model/parameters.ts';
import { createPlan, type Plan } from '../../semantic/plan/plan.ts';
import { querySchema } from '../../semantic/query/query.ts';
import { savedQueryBodySchema } from '../../semantic/query/saved-query.ts';
import { withAnalyzer } from '../../sql/analyzer.ts';

/** A query that shows whether one field, metric, segment or query of a dataset works. */
export interface ModelProbe {
  readonly subject: string;
  readonly kind: string;
  /** The path of the dataset's file. */
  readonly location: string;
  readonly query: object;
}

/** The statement that shows whether the query of a dataset works; undefined for a table. */
export function datasetProbe(
  connection: string,
  { name, file, relation }: ModelDataset,
): (Omit<ModelProbe, 'query'> & { readonly sql: string }) | undefined {
  if (relation.kind !== 'query') return undefined;
  return {
    subject: subjects.dataset(connection, name),
    kind: 'dataset',
    location: file,
    sql: `SELECT 1 FROM (\n${relation.sql}\n) AS ktx WHERE 1 = 0`,
  };
}

/** Aggregates that every engine has for numbers. */
const plain: ReadonlySet<string> = new Set(['sum', 'avg', 'min', 'max', 'count', 'count_distinct']);

/** Postgres counts with it, and has no sum of it. */
const hasNoSum = /^oid$/i;

/** The tables of a catalog by their names in lower case. */
type TablesByName = ReadonlyMap<string, readonly CatalogTable[]>;

export function indexTables({ tables }: Catalog): TablesByName {
  return Map.groupBy(tables, ({ table }) => table.toLowerCase());
}

/**
 * The probes of a dataset. Fields that are columns of the catalog, the count of rows, and
 * aggregates of a table's column of numbers need none: no engine refuses them.
 */
export function listProbes(
  { connection, firstSchema }: Catalog,
  tables: TablesByName,
  dataset: ModelDataset,
): ModelProbe[] {
  const { name: datasetName, file: location, relation } = dataset;
  const [tableName, schemaName = firstSchema, catalogName] =
    relation.kind === 'table' ? relation.parts.map((part) => part.toLowerCase()).toReversed() : [];
  const table = tables
    .get(tableName ?? '')
    ?.find(
      ({ schema, catalog }) =>
        schema.toLowerCase() === schemaName.toLowerCase() && catalog?.toLowerCase() === catalogName,
    );
  const types = new Map(
    table?.columns.map(({ name, nativeType, type }) => [
      name.toLowerCase(),
      hasNoSum.test(nativeType) ? 'unknown' : type,
    ]),
  );
  const typeOf = (name: string) => types.get(columnIdentity(dataset, name).toLowerCase());
  const isColumn = ({ name }: { readonly name: string }) => typeOf(name) !== undefined;
  const isOfNumbers = ({ definition, where, balance }: ModelMetric): boolean => {
    if (definition.kind !== 'aggregate' || where !== undefined || balance !== undefined)
      return false;
    // The tables of a view can have changed since it was made.
    if (table?.kind !== 'table') return false;
    const field = dataset.fields.get(definition.of?.text ?? '');
    const isPlain =
      field !== undefined && field.expr === undefined && plain.has(definition.function);
    return isPlain && ['integer', 'decimal'].includes(typeOf(field.name) ?? '');
  };
  const fields = [...dataset.fields.values()].filter(({ hidden }) => !hidden);
  const metrics = [...dataset.metrics.values()].filter(
    (metric) => !metric.hidden && !isRowCount(metric) && !isOfNumbers(metric),
  );
  const dimension = (name: string) => [`${datasetName}.${name}`];
  const fieldProbes = fields
    .filter((field) => !isColumn(field))
    .map(({ name }) => ({
      subject: subjects.field(connection, datasetName, name),
      kind: 'field',
      location,
      query: { dimensions: dimension(name) },
    }));
  const metricProbes = metrics.map((metric) => ({
    subject: subjects.metric(connection, datasetName, metric.name),
    kind: 'metric',
    location,
    query: { metrics: [metricAddress(metric)] },
  }));
  // A segment is tried with any field, which a query needs.
  const anyField = fields.find(isColumn) ?? fields[0];
  const segmentProbes = (anyField ? [...dataset.segments.keys()] : []).map((name) => ({
    subject: `segment:${connection}.${datasetName}.${name}`,
    kind: 'segment',
    location,
    query: { dimensions: dimension(anyField?.name ?? datasetName), segments: dimension(name) },
  }));
  return [...fieldProbes, ...metricProbes, ...segmentProbes];
}

/** The probes of the saved queries that sources have for a warehouse. */
export function listQueryProbes(connection: string, claims: readonly Claim[]): ModelProbe[] {
  return claims.flatMap(({ subject, kind, body }) => {
    const found = kind === 'saved_query' ? parseSavedQuerySubject(subject) : undefined;
    const { data } = savedQueryBodySchema.safeParse(body);
    if (found?.connection !== connection || data === undefined) return [];
    const { description: _description, owner: _owner, synonyms: _synonyms, ...query } = data;
    return [{ subject, kind, location: savedQueryPath(found), query }];
  });
}

function isRowCount({ definition, where }: ModelMetric): boolean {
  return (
    definition.kind === 'aggregate' &&
    definition.function === 'count' &&
    definition.of === undefined &&
    where === undefined
  );
}

/** Plans a probe. A running total needs some period, so it is planned by month. */
export async function planProbe(model: SemanticModel, query: object): Promise<Plan> {
  const planWith = (extra: object) =>
    withAnalyzer(() =>
      createPlan(
        model,
        querySchema.parse({ parameters: sampleParameters(model), ...query, ...extra }),
      ),
    );
  try {
    return await planWith({});
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'no_period') throw error;
    return planWith({ dimensions: ['metric_time.month'] });
  }
}
