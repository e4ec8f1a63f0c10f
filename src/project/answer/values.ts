import { nearest } from '../../lib/suggest.ts';
import { readValueDictionary, type DictionaryColumn } from '../../scan/profile/value-dictionary.ts';
import { findTable } from '../../semantic/load/find-table.ts';
import { declaredValues } from '../../semantic/model/dataset.ts';
import { columnIdentity } from '../../semantic/model/model.ts';
import type { ComparedText } from '../../semantic/resolve/literals/compared-text.ts';
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

/** The values of fields of which all are known, by `dataset.field`. */
export async function readKnownValues(
  project: Project,
  connection: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const state = await openCleanState(project);
  try {
    const values = await loadValues(project, state, connection);
    const known = values.filter(({ all_known: isWhole }) => isWhole);
    const byField = Map.groupBy(known, ({ dataset, field }) => `${dataset}.${field}`);
    return new Map([...byField].map(([name, hits]) => [name, hits.map(({ value }) => value)]));
  } finally {
    state.close();
  }
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
      ({ name }) => foldText(columnIdentity(modeled, name)) === foldText(column),
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

/**
 * A note for each text that a condition compares a field with, and that is not among the values
 * which the field's file declares.
 */
export function noteUndeclaredValues(compared: readonly ComparedText[]): readonly string[] {
  return compared.flatMap((text) => noteUnless(declaredIn(text), text, 'does not have'));
}

/**
 * The same for fields without declared values, by all values of the last scan, where the role may
 * see every row of the dataset. The notes name values of the warehouse.
 */
export async function noteUnscannedValues(
  project: Project,
  connection: string,
  compared: readonly ComparedText[],
): Promise<readonly string[]> {
  const undeclared = compared.filter((text) => declaredIn(text) === undefined);
  if (undeclared.length === 0) return [];
  const scanned = await readScannedValues(project, connection);
  return undeclared.flatMap((text) =>
    noteUnless(scanned(text), text, 'at the last scan did not have'),
  );
}

function declaredIn({ dataset, field }: ComparedText): readonly string[] | undefined {
  return declaredValues(dataset.fields.get(field) ?? {})?.map(String);
}

/** All values of the column behind a field; undefined where they are not known, or not for all. */
async function readScannedValues(
  project: Project,
  connection: string,
): Promise<(text: ComparedText) => readonly string[] | undefined> {
  // Where the warehouse decides which rows a caller sees, values of a scan could be of others.
  if (project.warehouseIdentity(connection) !== undefined) return () => undefined;
  const { model } = await project.model(connection);
  // A file with errors may have row rules that are not known.
  if (model.hasRules && model.excluded.size > 0) return () => undefined;
  const state = await openCleanState(project);
  try {
    const columns = readValueDictionary(state.db, connection).filter(({ isWhole }) => isWhole);
    const tables = columns.map(({ table }) => table);
    return ({ dataset, field }) => {
      if (!seesAllRows(dataset, project.role)) return undefined;
      const table = findTable(model.dialect, dataset.relation, tables);
      const wanted = columnIdentity(dataset, field).toLowerCase();
      const isOf = (column: (typeof columns)[number]) =>
        table !== undefined && tableKey(column.table) === tableKey(table);
      return columns.find((column) => isOf(column) && column.column.toLowerCase() === wanted)
        ?.values;
    };
  } finally {
    state.close();
  }
}

/** More of them say less. */
const mostListed = 8;

/** Empty if the text is among the known values, or if none are known. */
function noteUnless(
  known: readonly string[] | undefined,
  { name, value }: ComparedText,
  lacks: string,
): readonly string[] {
  if (known === undefined || known.length === 0 || known.includes(value)) return [];
  const quoted = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(', ');
  const near = nearest(value, known);
  const rest = known.length > mostListed ? `, and ${known.length - mostListed} more` : '';
  const hint =
    near.length > 0
      ? `did you mean ${quoted(near)}?`
      : `it has ${quoted(known.slice(0, mostListed))}${rest}`;
  return [`${name} ${lacks} '${value}': ${hint}`];
}
