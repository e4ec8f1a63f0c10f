import { z } from 'zod';
import { type BigqueryApi, projectPath } from '../api.ts';
import { throwTranslated } from '../errors.ts';

/** A dataset of the connection. */
export interface ProjectDataset {
  readonly project: string;
  readonly dataset: string;
  /** Set if it is of another project than the connection's. */
  readonly catalog?: string | undefined;
}

/** A table as a list shows it. */
export interface ListedTable {
  readonly table: string;
  /** TABLE, VIEW, MATERIALIZED_VIEW, EXTERNAL, SNAPSHOT… */
  readonly type: string;
}

const listedDatasetSchema = z.looseObject({
  datasetReference: z.looseObject({ projectId: z.string(), datasetId: z.string() }),
});
/** A list of tables can have entries that name none. */
const listedTableSchema = z.looseObject({
  tableReference: z.looseObject({ tableId: z.string() }).optional(),
  type: z.string().default('TABLE'),
});

/** A dataset as the configuration names it: `analytics`, or `other-project.shared`. */
export function parseDataset(name: string, project: string): ProjectDataset {
  const dot = name.lastIndexOf('.');
  const own = dot < 0 ? project : name.slice(0, dot);
  return {
    project: own,
    dataset: name.slice(dot + 1),
    ...(own !== project && { catalog: own }),
  };
}

interface ListLimits {
  readonly signal: AbortSignal;
  readonly atMost?: number;
}

/** The datasets of the project that the login sees, or the first of them. */
export async function listDatasets(
  api: BigqueryApi,
  project: string,
  { signal, atMost }: ListLimits,
): Promise<readonly ProjectDataset[]> {
  const request = {
    path: projectPath(project, 'datasets'),
    query: { maxResults: String(atMost ?? 1000) },
    key: 'datasets',
    element: listedDatasetSchema,
    ...(atMost !== undefined && { atMost }),
  };
  const found = await api.list(request, signal).catch((error: unknown) => throwTranslated(error));
  return found.map(({ datasetReference: { datasetId } }) => ({ project, dataset: datasetId }));
}

/** The tables of a dataset, or the first of them. */
export async function listTables(
  api: BigqueryApi,
  { project, dataset }: ProjectDataset,
  { signal, atMost }: ListLimits,
): Promise<readonly ListedTable[]> {
  const request = {
    path: projectPath(project, 'datasets', dataset, 'tables'),
    query: { maxResults: String(Math.min(1000, atMost ?? 1000)) },
    key: 'tables',
    element: listedTableSchema,
    ...(atMost !== undefined && { atMost }),
  };
  const found = await api.list(request, signal).catch((error: unknown) => throwTranslated(error));
  return found.flatMap(({ tableReference, type }) =>
    tableReference === undefined ? [] : [{ table: tableReference.tableId, type }],
  );
}
