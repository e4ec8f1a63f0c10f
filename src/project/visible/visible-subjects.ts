import { parseSavedQuerySubject } from '../../context/claims/saved-query-claims.ts';
import { parseSubject, parseWikiSubject } from '../../context/claims/subject.ts';
import { seesAllRows } from '../../semantic/resolve/row-rules.ts';
import { readVisibleDatasets, type VisibleDataset } from '../answer/visible-datasets.ts';
import type { Project } from '../open/open.ts';

export type VisibleSubjects = Awaited<ReturnType<typeof openVisibleSubjects>>;

/** What callers of a server may see of the project: as agents do, nothing that is hidden. */
export async function openVisibleSubjects(project: Project) {
  const visible = await Promise.all(
    project.warehouses.map((name) => readVisibleDatasets(project, name)),
  );
  const datasets = new Map(
    visible.flat().map((own) => [keyOf(own.connection, own.dataset.dataset), own]),
  );
  const wholeConnections = new Set<string>();
  for (const name of project.warehouses)
    if (await showsAllRows(project, name)) wholeConnections.add(name);
  const dataset = (connection: string, name: string): VisibleDataset | undefined =>
    datasets.get(keyOf(connection, name));
  return {
    dataset,
    /** A dataset is visible as a whole; of fields and metrics those that are not hidden. */
    isVisible(subject: string): boolean {
      if (parseWikiSubject(subject) !== undefined) return true;
      if (parseSavedQuerySubject(subject) !== undefined) return true;
      const { type, connection = '', dataset: of = '', name } = parseSubject(subject) ?? {};
      const own = dataset(connection, of)?.dataset;
      if (own === undefined) return false;
      if (type === 'dataset' || type === 'relationship') return true;
      const parts = type === 'metric' ? own.metrics : namedParts(own);
      return parts?.some((part) => part.name === name) === true;
    },
    /** True if a number about all rows of the subject's connection tells the caller no secret. */
    mayShowNumbers: (subject: string): boolean =>
      wholeConnections.has(parseSubject(subject)?.connection ?? ''),
  };
}

/** What a subject of the type `field` may name. */
function namedParts({
  fields = [],
  row_metrics: rows = [],
  conformed_dimensions: dimensions = [],
}: VisibleDataset['dataset']) {
  return [...fields, ...rows, ...dimensions];
}

function keyOf(connection: string, dataset: string): string {
  return JSON.stringify([connection, dataset]);
}

/** False if row rules, or the warehouse itself, keep rows of any dataset from the caller. */
async function showsAllRows(project: Project, connection: string): Promise<boolean> {
  if (project.warehouseIdentity(connection) !== undefined) return false;
  const { model } = await project.model(connection);
  if (!model.hasRules) return true;
  // Nobody can tell whether a dataset that does not load has rules.
  if (model.excluded.size > 0) return false;
  return [...model.datasets.values()].every((own) => seesAllRows(own, project.role));
}
