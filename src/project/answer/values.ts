import { nearest } from '../../lib/suggest.ts';
import { dictionaryOf, type DictionaryColumn } from '../../scan/profile/values.ts';
import { seesAllRows } from '../../semantic/resolve/row-rules.ts';
import { tableKey } from '../../sql/dialect.ts';
import { openState, type State } from '../../store/state.ts';
import type { Project } from '../open/open.ts';
import { indexDatasetsByTable, readVisibleDatasets } from './visible-datasets.ts';

export interface ValueHit {
  /** As the warehouse has it. */
  readonly value: string;
  readonly connection: string;
  readonly dataset: string;
  readonly field: string;
  /** False where the column has values that were not seen. */
  readonly all_known: boolean;
}

/**
 * The fields that hold a value, by the dictionary that the last scan left: the value itself first, then those that begin with the
 * text, then those that have it somewhere; else those that are spelled nearly so. Only of fields that whoever asks may see, of
 * datasets whose every row they may read.
 */
export async function findValues(
  project: Project,
  text: string,
  connection?: string,
): Promise<ValueHit[]> {
  const state = openState(project.dir);
  try {
    return matching(await dictionary(project, state, connection), foldText(text));
  } finally {
    state.close();
  }
}

/** The fields that hold the text itself, or one of its words, as a value; the text itself first. */
export async function findFieldsByValue(
  project: Project,
  state: State,
  asked: { text: string; connection: string | undefined },
): Promise<ValueHit[]> {
  const texts = [asked.text, ...asked.text.split(/\s+/)]
    .map(foldText)
    .filter((text) => text !== '');
  const all = (await dictionary(project, state, asked.connection)).map((hit) => ({
    hit,
    at: texts.indexOf(foldText(hit.value)),
  }));
  return all
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
    .map(({ hit }) => hit);
}

/** Every value that whoever asks may see. */
async function dictionary(
  project: Project,
  state: State,
  connection: string | undefined,
): Promise<ValueHit[]> {
  const names =
    connection === undefined ? project.warehouses : [project.connection(connection).name];
  return (
    await Promise.all(
      names.map((name) => visibleValues(project, name, dictionaryOf(state.db, name))),
    )
  ).flat();
}

async function visibleValues(
  project: Project,
  connection: string,
  columns: readonly DictionaryColumn[],
): Promise<ValueHit[]> {
  if (columns.length === 0) return [];
  const [catalog, { model }] = await Promise.all([
    project.catalog(connection),
    project.model(connection),
  ]);
  if (catalog === undefined || (model.hasRules && model.excluded.size > 0)) return [];
  const find = indexDatasetsByTable(await readVisibleDatasets(project, connection), catalog);
  const tables = new Map(catalog.tables.map((table) => [tableKey(table), table]));
  return columns.flatMap(({ table, column, values, isWhole }) => {
    const place = tables.get(tableKey(table));
    const dataset = place && find(place)?.dataset;
    const known = dataset && model.datasets.get(dataset.dataset);
    if (dataset === undefined || known === undefined || !seesAllRows(known, project.role))
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

function matching(all: readonly ValueHit[], text: string): ValueHit[] {
  const ranks = all
    .map((hit) => ({ hit, rank: rankOf(foldText(hit.value), text) }))
    .filter(({ rank }) => rank > 0);
  if (ranks.length > 0)
    return ranks
      .sort((a, b) => b.rank - a.rank || a.hit.value.length - b.hit.value.length)
      .map(({ hit }) => hit);
  const near = new Set(nearest(text, new Set(all.map(({ value }) => foldText(value))), 5));
  return all.filter(({ value }) => near.has(foldText(value)));
}

function rankOf(value: string, text: string): number {
  if (value === text) return 3;
  if (value.startsWith(text)) return 2;
  return Number(value.includes(text));
}

/** Without case and accents. */
export const foldText = (text: string): string =>
  text.normalize('NFD').replaceAll(/\p{M}/gu, '').trim().toLowerCase();
