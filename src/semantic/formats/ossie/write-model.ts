import type { Dialect } from '../../../sql/dialect.ts';
import type { Dataset, MetricDefinition } from '../../model/dataset.ts';
import {
  uniqueNames,
  type DatasetField,
  type DatasetRelationship,
  type Misfit,
} from '../imported-model.ts';
import { extended, written } from './lossless.ts';
import { metricForms, fieldForms, datasetForms, relationshipForms } from './codecs.ts';
import { placed, type Together } from './metric-conversion.ts';
import { relationshipOut } from './dataset-conversion.ts';
import { type Entry, isEntry, without } from '../patch.ts';

interface Writing extends Together {
  readonly note: (at: string, message: string) => void;
}

/** One semantic model of a document. */
export function writtenModel(
  datasets: readonly Dataset[],
  { dialect, name }: { readonly dialect: Dialect; readonly name: string },
) {
  const misfits: Misfit[] = [];
  const byName = new Map(datasets.map((dataset) => [dataset.dataset, dataset]));
  const writing: Writing = {
    dialect,
    datasets: byName,
    note: (at, message) => misfits.push({ at, message }),
  };
  const header = headerOf(datasets);
  const metrics = writtenMetrics(datasets, writing);
  const relationships = writtenRelationships(datasets, writing);
  const lists = {
    datasets: datasets.map((dataset) =>
      writtenDataset(dataset, writing, {
        metrics: metrics.aside,
        relationships: relationships.aside,
      }),
    ),
    relationships: [...relationships.entries, ...asideOf(header, 'relationships')],
    metrics: [...metrics.entries, ...asideOf(header, 'metrics')],
  };
  const order = isEntry(header?.['order']) ? header['order'] : {};
  const filled = Object.entries(lists).flatMap(([key, entries]): [string, readonly Entry[]][] => {
    const isGiven = key === 'datasets' || entries.length > 0 || key in order;
    return isGiven ? [[key, sorted(entries, order[key])]] : [];
  });
  const about =
    header === undefined
      ? extended({ name }, { origin: 'ktx' })
      : without(header, 'order', 'aside');
  return { model: { ...about, ...Object.fromEntries(filled) }, misfits };
}

/** What the model had beside its datasets when it came. */
function headerOf(datasets: readonly Dataset[]): Entry | undefined {
  const headers = datasets.flatMap(({ extensions }): Entry[] => {
    const header = extensions?.['ossie_model'];
    return isEntry(header) ? [header] : [];
  });
  return headers.find((header) => 'order' in header) ?? headers[0];
}

function asideOf(header: Entry | undefined, key: string): readonly Entry[] {
  const aside = header?.['aside'];
  const list = isEntry(aside) ? aside[key] : undefined;
  return Array.isArray(list) ? list.filter(isEntry) : [];
}

/** In the order in which they came; new ones last. */
function sorted(entries: readonly Entry[], order: unknown): readonly Entry[] {
  const names: readonly unknown[] = Array.isArray(order) ? order : [];
  const place = (entry: Entry): number =>
    names.includes(entry['name']) ? names.indexOf(entry['name']) : names.length;
  return entries.toSorted((a, b) => place(a) - place(b));
}

/** Entries for the model, and by dataset what Ossie cannot say, with its index. */
interface Lists<Item> {
  readonly entries: readonly Entry[];
  readonly aside: ReadonlyMap<string, readonly (readonly [number, Item])[]>;
}

/** Names of metrics where those of all datasets meet. */
export function modelNames(
  metrics: readonly { readonly dataset: string; readonly name: string }[],
): readonly string[] {
  const counts = Map.groupBy(metrics, ({ name }) => name.toLowerCase());
  return uniqueNames(
    metrics.map(({ dataset, name }) =>
      counts.get(name.toLowerCase())?.length === 1 ? name : `${dataset}_${name}`,
    ),
  );
}

function writtenMetrics(datasets: readonly Dataset[], writing: Writing): Lists<MetricDefinition> {
  const all = datasets.flatMap((home) =>
    (home.metrics ?? []).map((metric, index) => ({ home, metric, index })),
  );
  const attempt = ({ home, metric }: (typeof all)[number], name: string) =>
    written(placed(metric, home.dataset), metricForms({ ...writing, name }));
  const aside = all.filter((one) => attempt(one, one.metric.name) === undefined);
  const sayable = all.filter((one) => !aside.includes(one));
  const names = modelNames(
    sayable.map(({ home, metric }) => ({ dataset: home.dataset, name: metric.name })),
  );
  const entries = sayable.flatMap((one, index) => {
    const result = attempt(one, names[index] ?? one.metric.name);
    if (result !== undefined)
      noteAside(writing, `metrics.${one.home.dataset}.${one.metric.name}`, result.aside);
    return result === undefined ? [] : [result.entry];
  });
  for (const { home, metric } of aside) {
    writing.note(
      `metrics.${home.dataset}.${metric.name}`,
      'Ossie cannot say what it computes; other tools will not see it',
    );
  }
  return {
    entries,
    aside: grouped(aside.map(({ home, metric, index }) => ({ home, item: metric, index }))),
  };
}

function writtenRelationships(
  datasets: readonly Dataset[],
  writing: Writing,
): Lists<DatasetRelationship> {
  const all = datasets.flatMap((home) =>
    (home.relationships ?? []).map((item, index) => ({ home, item, index })),
  );
  const isSayable = ({ home, item }: (typeof all)[number]) =>
    relationshipOut(item, home.dataset) !== undefined;
  const sayable = all.filter((one) => isSayable(one) && writing.datasets.has(one.item.to));
  const names = uniqueNames(
    sayable.map(({ home, item }) => `${home.dataset}_to_${item.role ?? item.to}`),
  );
  const entries = sayable.flatMap(({ home, item }, index) => {
    const isOnly =
      sayable.filter((other) => other.home === home && other.item.to === item.to).length === 1;
    const result = written(
      without(item),
      relationshipForms({ from: home.dataset, name: names[index] ?? '', isOnly }),
    );
    if (result !== undefined)
      noteAside(writing, `relationships.${home.dataset}.${item.role ?? item.to}`, result.aside);
    return result === undefined ? [] : [result.entry];
  });
  const aside = all.filter((one) => !sayable.includes(one));
  for (const { home, item } of aside) {
    writing.note(
      `relationships.${home.dataset}.${item.role ?? item.to}`,
      'Ossie joins by equal columns only; other tools will not see it',
    );
  }
  return { entries, aside: grouped(aside) };
}

function grouped<Item>(
  all: readonly { home: Dataset; item: Item; index: number }[],
): Lists<Item>['aside'] {
  const byHome = Map.groupBy(all, ({ home }) => home.dataset);
  return new Map(
    [...byHome].map(([name, list]) => [
      name,
      list.map(({ index, item }) => [index, item] as const),
    ]),
  );
}

type Aside = Readonly<Record<'metrics' | 'relationships', ReadonlyMap<string, unknown>>>;

function writtenDataset(dataset: Dataset, writing: Writing, aside: Aside): Entry {
  const { dataset: name, fields, extensions = {}, ...others } = dataset;
  const kept = without(extensions, 'ossie_model', 'ossie_aside');
  const view = without({
    ...others,
    dataset: name,
    metrics: aside.metrics.get(name),
    relationships: aside.relationships.get(name),
    extensions: Object.keys(kept).length === 0 ? undefined : kept,
  });
  const result = written(view, datasetForms);
  if (result === undefined) throw new Error(`${name} has no form in Ossie`);
  noteAside(
    writing,
    `datasets.${name}`,
    result.aside.filter((key) => key !== 'metrics' && key !== 'relationships'),
  );
  const own = (fields ?? []).filter((field) => field.extensions?.['ossie_absent'] !== true);
  const entries = own.map((field) => writtenField(field, name, writing));
  const fieldsAside = isEntry(extensions['ossie_aside'])
    ? extensions['ossie_aside']['fields']
    : undefined;
  for (const [index, entry] of indexed(fieldsAside))
    if (isEntry(entry)) entries.splice(index, 0, entry);
  return fields === undefined && entries.length === 0
    ? result.entry
    : { ...result.entry, fields: entries };
}

/** Pairs of a place in a list and what stood there. */
export function indexed(list: unknown): readonly (readonly [number, unknown])[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((pair: unknown): [number, unknown][] =>
    Array.isArray(pair) && typeof pair[0] === 'number' ? [[pair[0], pair[1]]] : [],
  );
}

function writtenField(field: DatasetField, dataset: string, writing: Writing): Entry {
  const result = written(without(field), fieldForms(writing.dialect));
  if (result === undefined) throw new Error(`${field.name} has no form in Ossie`);
  noteAside(writing, `fields.${dataset}.${field.name}`, result.aside);
  return result.entry;
}

function noteAside({ note }: Writing, at: string, keys: readonly string[]): void {
  const told = keys.filter((key) => key !== 'dataset');
  if (told.length > 0) note(at, `only ktx will understand ${told.join(', ')}`);
}
