import { nearest } from '../../lib/suggest.ts';
import { readValueDictionary, type DictionaryColumn } from '../../scan/profile/value-dictionary.ts';
import { seesAllRows } from '../../semantic/resolve/row-rules.ts';
import { tableKey } from '../../sql/dialect.ts';
import type { State } from '../../store/state.ts';
import { openCleanState } from '../open/column-labels.ts';
import type { Project } from '../open/open.ts';
import { indexDatasetsByTable, readVisibleDatasets } from './visible-datasets.ts';

export interface ValueHit {
  /** Spelled as in the warehouse. */
  readonly value: string;
  readonly connection: string;
  readonly dataset: string;
  readonly field: string;
  /** False if the column has more values than the scan kept. */
  readonly all_known: boolean;
}

/**
 * The values of fields that match a text, from the dictionary of the last scan: equal ones first,
 * then those that begin with the text, then those that contain it; if there are none, those with a
 * similar spelling. Only visible fields of datasets whose every row the role may read, of
 * connections that show everyone the same.
 */
export async function findValues(
  project: Project,
  text: string,
  connection?: string,
): Promise<ValueHit[]> {
  const state = await openCleanState(project);
  try {
    return rankMatches(await loadValues(project, state, connection), foldText(text));
  } finally {
    state.close();
  }
}

/** The fields that have the whole text as a value, then those that have one of its words. */
export async function findFieldsByValue(
  project: Project,
  state: State,
  { text, connection }: { text: string; connection: string | undefined },
): Promise<ValueHit[]> {
  const wanted = [text, ...text.split(/\s+/)].map(foldText).filter((word) => word !== '');
  const values = await loadValues(project, state, connection);
  return values
    .map((hit) => ({ hit, position: wanted.indexOf(foldText(hit.value)) }))
    .filter(({ position }) => position >= 0)
    .sort((a, b) => a.position - b.position)
    .map(({ hit }) => hit);
}

/** Every value that the role may see, of one connection or of all. */
async function loadValues(
  project: Project,
  state: State,
  connection: string | undefined,
): Promise<ValueHit[]> {
  const names =
    connection === undefined ? project.warehouses : [project.connection(connection).name];
  return (
    await Promise.all(
      names.map((name) => visibleValues(project, name, readValueDictionary(state.db, name))),
    )
  ).flat();
}

async function visibleValues(
  project: Project,
  connection: string,
  columns: readonly DictionaryColumn[],
): Promise<ValueHit[]> {
  // Where the warehouse decides which rows a caller sees, values of a scan could be of others.
  if (columns.length === 0 || project.warehouseIdentity(connection) !== undefined) return [];
  const [catalog, { model }] = await Promise.all([
    project.catalog(connection),
    project.model(connection),
  ]);
  if (catalog === undefined || (model.hasRules && model.excluded.size > 0)) return [];
  const findDataset = indexDatasetsByTable(await readVisibleDatasets(project, connection), catalog);
  const tables = new Map(catalog.tables.map((table) => [tableKey(table), table]));
  return columns.flatMap(({ table, column, values, isWhole }) => {
    const catalogTable = tables.get(tableKey(table));
    const dataset = catalogTable && findDataset(catalogTable)?.dataset;
    const modeled = dataset && model.datasets.get(dataset.dataset);
    if (dataset === undefined || modeled === undefined || !seesAllRows(modeled, project.role))
      return [];
    const field = dataset.fields?.find(
      ({ name, expr = name }) => typeof expr === 'string' && foldText(expr) === foldText(column),
    );
    if (field === undefined) return [];
    return values.map((value) => ({
      value,
      connection,
      dataset: dataset.dataset,
      field: field.name,
      all_known: isWhole,
    }));
  });
}

function rankMatches(hits: readonly ValueHit[], text: string): ValueHit[] {
  const ranked = hits
    .map((hit) => ({ hit, rank: rankOf(foldText(hit.value), text) }))
    .filter(({ rank }) => rank > 0);
  if (ranked.length > 0)
    return ranked
      .sort((a, b) => b.rank - a.rank || a.hit.value.length - b.hit.value.length)
      .map(({ hit }) => hit);
  const near = new Set(nearest(text, new Set(hits.map(({ value }) => foldText(value))), 5));
  return hits.filter(({ value }) => near.has(foldText(value)));
}

/** 3 for equal, 2 for a prefix, 1 for a substring, 0 for no match. */
function rankOf(value: string, text: string): number {
  if (value === text) return 3;
  if (value.startsWith(text)) return 2;
  return Number(value.includes(text));
}

/** Lower case without accents, for comparisons. */
export function foldText(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').trim().toLowerCase();
}
