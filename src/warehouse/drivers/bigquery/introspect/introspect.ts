import { tableKey } from '../../../../sql/dialect.ts';
import type { RunCatalogQuery } from '../../../table-schemas.ts';
import type { Scope, TableSchema, WarehouseSchema } from '../../../warehouse.ts';
import { type BigqueryApi, projectPath } from '../api.ts';
import { BigqueryError, throwTranslated } from '../errors.ts';
import { type ProjectDataset, type ListedTable, listDatasets, listTables } from './datasets.ts';
import { describeResource, tableResourceSchema } from './described-table.ts';
import { readInformationSchema } from './information-schema.ts';
import { groupShards, type TableGroup } from './shards.ts';

export interface IntrospectionSource {
  readonly api: BigqueryApi;
  readonly project: string;
  /** Undefined: every dataset of the project. */
  readonly datasets: readonly ProjectDataset[] | undefined;
  /** Runs a statement, which is billed as 10 MB or more. */
  readonly query: (signal: AbortSignal) => RunCatalogQuery;
}

interface DatasetTables {
  readonly dataset: ProjectDataset;
  readonly groups: readonly TableGroup<ListedTable>[];
}

/** From here on, `INFORMATION_SCHEMA` is asked: fewer tables are described one by one, for free. */
const manyTables = 200;
/** Requests under way at the same time. */
const parallel = 8;

/** Lists the tables for free, and describes them one by one, or with four statements a dataset. */
export async function introspectBigquery(
  source: IntrospectionSource,
  { schemas }: Scope,
  signal: AbortSignal,
): Promise<WarehouseSchema> {
  const { api, project, datasets, query } = source;
  const all = datasets ?? (await listDatasets(api, project, { signal }));
  const inScope = all.filter(({ dataset }) => schemas?.includes(dataset) ?? true);
  const listed = await inParallel(inScope, async (dataset): Promise<DatasetTables> => {
    const entries = await listTables(api, dataset, { signal });
    const groups = groupShards(entries, ({ table, type }) => ({
      table,
      isTable: type === 'TABLE',
    }));
    return { dataset, groups };
  });
  const count = listed.reduce((sum, { groups }) => sum + groups.length, 0);
  const withTables = listed.filter(({ groups }) => groups.length > 0);
  const isLarge = count >= manyTables;
  const found = isLarge
    ? await inParallel(withTables, ({ dataset, groups }) =>
        readInformationSchema({ dataset, groups }, query(signal)),
      )
    : await describeAll(withTables, api, signal);
  const tables = found.flat();
  const known = new Set(tables.map(tableKey));
  const withKnownKeys = tables.map((table) => ({
    ...table,
    foreignKeys: table.foreignKeys.filter(({ to }) => known.has(tableKey(to.table))),
  }));
  return {
    tables: withKnownKeys.toSorted(compareTables),
    queries: isLarge ? 4 * withTables.length : 0,
  };
}

async function describeAll(
  listed: readonly DatasetTables[],
  api: BigqueryApi,
  signal: AbortSignal,
): Promise<readonly (readonly TableSchema[])[]> {
  const places = listed.flatMap(({ dataset, groups }) =>
    groups.map((group) => ({ dataset, group })),
  );
  return inParallel(places, async ({ dataset, group }) => {
    const table = group.latest.table;
    const path = projectPath(dataset.project, 'datasets', dataset.dataset, 'tables', table);
    try {
      const resource = await api.read({ method: 'GET', path }, tableResourceSchema, signal);
      return [describeResource(dataset, group, resource)];
    } catch (error) {
      // It was dropped since it was listed.
      if (error instanceof BigqueryError && error.code === 'notFound') return [];
      return throwTranslated(error);
    }
  });
}

/** The results in the order of the items, with a few under way at a time. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results = new Map<number, Result>();
  const waiting = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) results.set(index, await work(item));
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, worker));
  return items.flatMap((_, index) => {
    const result = results.get(index);
    return result === undefined ? [] : [result];
  });
}

function compareTables(a: TableSchema, b: TableSchema): number {
  const [first, second] = [a, b].map(({ catalog = '', schema, table }) => [catalog, schema, table]);
  const index = first?.findIndex((part, position) => part !== second?.[position]) ?? -1;
  return index < 0 ? 0 : (first?.[index] ?? '') < (second?.[index] ?? '') ? -1 : 1;
}
