import { isRecord } from '../../../lib/json.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { MetricDefinition } from '../../model/metric-definition.ts';
import {
  type AddMisfit,
  type DatasetField,
  type DatasetRelationship,
  type Misfit,
  modelWideNames,
  uniqueNames,
} from '../imported-model.ts';
import { omitKeys, type PlainObject } from '../patch.ts';
import { datasetCodec, fieldCodec, metricCodec, relationshipCodec } from './codecs.ts';
import { toOssieRelationship } from './dataset-conversion.ts';
import { addKtxExtension } from './extension.ts';
import { indexedItems } from './indexed-items.ts';
import { encodeLossless } from './lossless.ts';
import { toMetricEntry } from './metric-entry.ts';
import type { DatasetScope } from './to-ossie-metric.ts';

interface WriteContext extends DatasetScope {
  readonly addMisfit: AddMisfit;
}

/** Writes one semantic model of a document. */
export function writeModel(
  datasets: readonly Dataset[],
  { dialect, name }: { readonly dialect: Dialect; readonly name: string },
): { readonly model: PlainObject; readonly misfits: readonly Misfit[] } {
  const misfits: Misfit[] = [];
  const context: WriteContext = {
    dialect,
    datasets: new Map(datasets.map((dataset) => [dataset.dataset, dataset])),
    addMisfit: (at, message) => misfits.push({ at, message }),
  };
  const header = importedHeader(datasets);
  const metrics = writeMetrics(datasets, context);
  const relationships = writeRelationships(datasets, context);
  const inexpressible = {
    metrics: metrics.inexpressible,
    relationships: relationships.inexpressible,
  };
  const lists = {
    datasets: datasets.map((dataset) => writeDataset(dataset, context, inexpressible)),
    relationships: [...relationships.objects, ...setAside(header, 'relationships')],
    metrics: [...metrics.objects, ...setAside(header, 'metrics')],
  };
  const order = isRecord(header?.['order']) ? header['order'] : {};
  const writtenLists = Object.entries(lists).flatMap(
    ([key, objects]): [string, readonly PlainObject[]][] => {
      const isWritten = key === 'datasets' || objects.length > 0 || key in order;
      return isWritten ? [[key, sortByName(objects, order[key])]] : [];
    },
  );
  const ownKeys =
    header === undefined
      ? addKtxExtension({ name }, { origin: 'ktx' })
      : omitKeys(header, 'order', 'aside');
  return { model: { ...ownKeys, ...Object.fromEntries(writtenLists) }, misfits };
}

/**
 * What the model held beside its datasets when it was imported; see `modelHeader` in read-model.ts.
 */
function importedHeader(datasets: readonly Dataset[]): PlainObject | undefined {
  const headers = datasets.flatMap(({ extensions }): PlainObject[] => {
    const header = extensions?.['ossie_model'];
    return isRecord(header) ? [header] : [];
  });
  return headers.find((header) => 'order' in header) ?? headers[0];
}

function setAside(header: PlainObject | undefined, key: string): readonly PlainObject[] {
  const aside = header?.['aside'];
  const list = isRecord(aside) ? aside[key] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** Puts the objects into the given order of names; other ones go last. */
function sortByName(objects: readonly PlainObject[], order: unknown): readonly PlainObject[] {
  const names: readonly unknown[] = Array.isArray(order) ? order : [];
  const rank = (object: PlainObject): number =>
    names.includes(object['name']) ? names.indexOf(object['name']) : names.length;
  return objects.toSorted((a, b) => rank(a) - rank(b));
}

/** By dataset, the items that Ossie cannot express, each with its index in the dataset's list. */
type InexpressibleItems<Item> = ReadonlyMap<string, readonly (readonly [index: number, Item])[]>;

interface WrittenList<Item> {
  readonly objects: readonly PlainObject[];
  readonly inexpressible: InexpressibleItems<Item>;
}

interface DatasetItem<Item> {
  readonly home: Dataset;
  readonly item: Item;
  readonly index: number;
}

function writeMetrics(
  datasets: readonly Dataset[],
  context: WriteContext,
): WrittenList<MetricDefinition> {
  const all = datasets.flatMap((home) =>
    (home.metrics ?? []).map((item, index) => ({ home, item, index })),
  );
  const encode = ({ home, item }: DatasetItem<MetricDefinition>, name: string) =>
    encodeLossless(toMetricEntry(item, home.dataset), metricCodec({ ...context, name }));
  const inexpressible = all.filter((metric) => encode(metric, metric.item.name) === undefined);
  const expressible = all.filter((metric) => !inexpressible.includes(metric));
  const names = modelWideNames(
    expressible.map(({ home, item }) => ({ dataset: home.dataset, name: item.name })),
  );
  const objects = expressible.flatMap((metric, index) => {
    const encoded = encode(metric, names[index] ?? metric.item.name);
    if (encoded === undefined) return [];
    noteKtxOnly(context, `metrics.${metric.home.dataset}.${metric.item.name}`, encoded.ktxOnlyKeys);
    return [encoded.object];
  });
  for (const { home, item } of inexpressible)
    context.addMisfit(
      `metrics.${home.dataset}.${item.name}`,
      'Ossie cannot say what it computes; other tools will not see it',
    );
  return { objects, inexpressible: groupByDataset(inexpressible) };
}

function writeRelationships(
  datasets: readonly Dataset[],
  context: WriteContext,
): WrittenList<DatasetRelationship> {
  const all = datasets.flatMap((home) =>
    (home.relationships ?? []).map((item, index) => ({ home, item, index })),
  );
  const expressible = all.filter(
    ({ home, item }) =>
      toOssieRelationship(item, home.dataset) !== undefined && context.datasets.has(item.to),
  );
  const names = uniqueNames(
    expressible.map(({ home, item }) => `${home.dataset}_to_${item.role ?? item.to}`),
  );
  const objects = expressible.flatMap(({ home, item }, index) => {
    const parallel = expressible.filter(
      (candidate) => candidate.home === home && candidate.item.to === item.to,
    );
    const codec = relationshipCodec({
      from: home.dataset,
      name: names[index] ?? '',
      isOnlyJoin: parallel.length === 1,
    });
    const encoded = encodeLossless(omitKeys(item), codec);
    if (encoded === undefined) return [];
    noteKtxOnly(
      context,
      `relationships.${home.dataset}.${item.role ?? item.to}`,
      encoded.ktxOnlyKeys,
    );
    return [encoded.object];
  });
  const inexpressible = all.filter((relationship) => !expressible.includes(relationship));
  for (const { home, item } of inexpressible)
    context.addMisfit(
      `relationships.${home.dataset}.${item.role ?? item.to}`,
      'Ossie joins by equal columns only; other tools will not see it',
    );
  return { objects, inexpressible: groupByDataset(inexpressible) };
}

function groupByDataset<Item>(items: readonly DatasetItem<Item>[]): InexpressibleItems<Item> {
  const byDataset = Map.groupBy(items, ({ home }) => home.dataset);
  return new Map(
    [...byDataset].map(([name, list]) => [
      name,
      list.map(({ index, item }) => [index, item] as const),
    ]),
  );
}

/** The dataset carries its inexpressible metrics and relationships in ktx's extension. */
function writeDataset(
  dataset: Dataset,
  context: WriteContext,
  inexpressible: Readonly<Record<'metrics' | 'relationships', ReadonlyMap<string, unknown>>>,
): PlainObject {
  const { dataset: name, fields, extensions = {}, ...others } = dataset;
  const ownExtensions = omitKeys(extensions, 'ossie_model', 'ossie_aside');
  const head = omitKeys({
    ...others,
    dataset: name,
    metrics: inexpressible.metrics.get(name),
    relationships: inexpressible.relationships.get(name),
    extensions: Object.keys(ownExtensions).length === 0 ? undefined : ownExtensions,
  });
  const encoded = encodeLossless(head, datasetCodec);
  if (encoded === undefined) throw new Error(`${name} has no form in Ossie`);
  noteKtxOnly(
    context,
    `datasets.${name}`,
    // Both have their own messages.
    encoded.ktxOnlyKeys.filter((key) => key !== 'metrics' && key !== 'relationships'),
  );
  const objects = writeFields(dataset, context);
  return fields === undefined && objects.length === 0
    ? encoded.object
    : { ...encoded.object, fields: objects };
}

/** With the fields that the import set aside, at their old places. */
function writeFields(
  { dataset, fields = [], extensions = {} }: Dataset,
  context: WriteContext,
): readonly PlainObject[] {
  const own = fields.filter((field) => field.extensions?.['ossie_absent'] !== true);
  const objects = own.map((field) => writeField(field, dataset, context));
  const aside = extensions['ossie_aside'];
  for (const [index, object] of indexedItems(isRecord(aside) ? aside['fields'] : undefined))
    if (isRecord(object)) objects.splice(index, 0, object);
  return objects;
}

function writeField(field: DatasetField, dataset: string, context: WriteContext): PlainObject {
  const encoded = encodeLossless(omitKeys(field), fieldCodec(context.dialect));
  if (encoded === undefined) throw new Error(`${field.name} has no form in Ossie`);
  noteKtxOnly(context, `fields.${dataset}.${field.name}`, encoded.ktxOnlyKeys);
  return encoded.object;
}

function noteKtxOnly({ addMisfit }: WriteContext, at: string, keys: readonly string[]): void {
  const reported = keys.filter((key) => key !== 'dataset');
  if (reported.length > 0) addMisfit(at, `only ktx will understand ${reported.join(', ')}`);
}
