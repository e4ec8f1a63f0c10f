import { isRecord } from '../../../lib/json.ts';
import { checkSchema, problemText } from '../../../lib/schema-check.ts';
import type { Dialect } from '../../../sql/dialect.ts';
import { type Dataset, datasetSchema } from '../../model/dataset.ts';
import {
  type AddMisfit,
  type Misfit,
  modelWideNames,
  toDatasetName,
  uniqueNames,
} from '../imported-model.ts';
import { isEqual, omitKeys, type PlainObject } from '../patch.ts';
import { textForDialect, tryParseFragment } from '../sql-fragment.ts';
import { datasetCodec, fieldCodec, metricCodec, relationshipCodec } from './codecs.ts';
import { splitKtxExtension } from './extension.ts';
import { indexedItems } from './indexed-items.ts';
import { decodeLossless, keepOssieOnlyKeys } from './lossless.ts';
import { metricEntrySchema, metricOfEntry, toMetricEntry } from './metric-entry.ts';
import type {
  OssieDataset,
  OssieField,
  OssieMetric,
  OssieModel,
  OssieRelationship,
} from './schema.ts';
import type { DatasetScope } from './to-ossie-metric.ts';

interface ReadContext extends DatasetScope {
  readonly addMisfit: AddMisfit;
}

/** An object and the name of the dataset that it goes into. */
interface OwnedObject {
  readonly home: string;
  readonly object: PlainObject;
}

interface ReadList {
  readonly objects: readonly OwnedObject[];
  /** Ossie objects that ktx cannot use; they are preserved and written back on export. */
  readonly unused: readonly PlainObject[];
}

/** Reads one semantic model of a document. */
export function readModel(
  model: OssieModel,
  dialect: Dialect,
): { readonly datasets: readonly Dataset[]; readonly misfits: readonly Misfit[] } {
  const misfits: Misfit[] = [];
  const addMisfit = (at: string, message: string) => misfits.push({ at, message });
  const names = uniqueNames(model.datasets.map(({ name }) => toDatasetName(name)));
  const ktxNames = new Map(model.datasets.map(({ name }, index) => [name, names[index] ?? name]));
  // At first only the names of the datasets: enough to see which of them an expression uses.
  const context: ReadContext = {
    dialect,
    addMisfit,
    datasets: new Map(names.map((dataset) => [dataset, { dataset }])),
  };
  const bareDatasets = model.datasets.map((dataset, index) =>
    readDataset(dataset, names[index] ?? dataset.name, context),
  );
  const relationships = readRelationships(model.relationships ?? [], ktxNames, context);
  const withLists = (metrics: readonly OwnedObject[]) =>
    bareDatasets.map((dataset, index) => {
      const ofHome = ({ home }: OwnedObject) => home === names[index];
      const withMetrics = insertList(dataset, 'metrics', metrics.filter(ofHome));
      return insertList(withMetrics, 'relationships', relationships.objects.filter(ofHome));
    });
  const metrics = readMetrics(model.metrics ?? [], context, (objects) =>
    validDatasets(withLists(objects)),
  );
  const unused = { metrics: metrics.unused, relationships: relationships.unused };
  const datasets = withLists(metrics.objects).flatMap((dataset, index): Dataset[] => {
    const header = modelHeader(model, unused, index === 0);
    const { data, problems } = checkSchema(
      datasetSchema,
      addExtension(dataset, 'ossie_model', header),
    );
    if (data !== undefined) return [data];
    addMisfit(`datasets.${names[index]}`, `left out: ${problems.map(problemText).join('; ')}`);
    return [];
  });
  return { datasets, misfits };
}

function validDatasets(datasets: readonly PlainObject[]): ReadonlyMap<string, Dataset> {
  const valid = datasets.flatMap((dataset) => datasetSchema.safeParse(dataset).data ?? []);
  return new Map(valid.map((dataset) => [dataset.dataset, dataset]));
}

/**
 * Sets a list of a dataset. Items that Ossie could not express, kept there with their index, go
 * back to their old places.
 */
function insertList(
  dataset: PlainObject,
  key: string,
  objects: readonly OwnedObject[],
): PlainObject {
  const list: unknown[] = objects.map(({ object }) => object);
  for (const [index, item] of indexedItems(dataset[key])) list.splice(index, 0, item);
  return list.length === 0 ? omitKeys(dataset, key) : { ...dataset, [key]: list };
}

function addExtension(object: PlainObject, key: string, value: unknown): PlainObject {
  if (value === undefined) return object;
  const extensions = isRecord(object['extensions']) ? object['extensions'] : {};
  return { ...object, extensions: { ...extensions, [key]: value } };
}

/**
 * What the model holds beside its datasets, so that an export can write it back: its own keys, the
 * order of its lists, and the objects that ktx cannot use. Only the first dataset carries all of
 * it. Undefined for a model that ktx wrote itself.
 */
function modelHeader(
  model: OssieModel,
  unused: Readonly<Record<string, readonly PlainObject[]>>,
  isFirstDataset: boolean,
): PlainObject | undefined {
  const { object, data } = splitKtxExtension(model);
  const ownKeys = omitKeys(object, 'datasets', 'relationships', 'metrics');
  const aside = Object.fromEntries(Object.entries(unused).filter(([, list]) => list.length > 0));
  const isWrittenByKtx =
    isEqual(data, { origin: 'ktx' }) &&
    isEqual(ownKeys, { name: model.name }) &&
    isEqual(aside, {});
  if (isWrittenByKtx) return undefined;
  if (!isFirstDataset) return { name: model.name };
  const order = omitKeys({
    datasets: model.datasets.map(({ name }) => name),
    relationships: model.relationships?.map(({ name }) => name),
    metrics: model.metrics?.map(({ name }) => name),
  });
  return { ...ownKeys, order, ...(isEqual(aside, {}) ? {} : { aside }) };
}

/** A dataset with its fields, without metrics and relationships. */
function readDataset(ossie: OssieDataset, name: string, context: ReadContext): PlainObject {
  const { fields, ...head } = ossie;
  const decoded = decodeLossless(head, (object) => ({
    ...datasetCodec.fromOssie(object),
    dataset: name,
  }));
  noteStale(context, `datasets.${ossie.name}`, decoded.stale);
  const dataset = keepOssieOnlyKeys(decoded, datasetCodec.toOssie);
  const read = (fields ?? []).map((field) => readField(field, ossie.name, context));
  const usable = read.filter((field) => field !== undefined);
  const unused = (fields ?? []).flatMap((field, index) =>
    read[index] === undefined ? [[index, field]] : [],
  );
  const keyFields = missingKeyFields(ossie, usable);
  const hasFields = fields !== undefined || keyFields.length > 0;
  return addExtension(
    hasFields ? { ...dataset, fields: [...usable, ...keyFields] } : dataset,
    'ossie_aside',
    unused.length === 0 ? undefined : { fields: unused },
  );
}

/**
 * Hidden fields for key columns that the Ossie dataset does not list as fields; an export leaves
 * them out again.
 */
function missingKeyFields(
  { primary_key = [], unique_keys = [] }: OssieDataset,
  fields: readonly PlainObject[],
): readonly PlainObject[] {
  const taken = new Set(fields.map((field) => String(field['name']).toLowerCase()));
  const columns = new Set([...primary_key, ...unique_keys.flat()]);
  return [...columns]
    .filter((column) => !taken.has(column.toLowerCase()))
    .map((column) => ({ name: column, hidden: true, extensions: { ossie_absent: true } }));
}

/** Undefined for an expression that ktx cannot use. */
function readField(
  field: OssieField,
  dataset: string,
  context: ReadContext,
): PlainObject | undefined {
  const at = `fields.${dataset}.${field.name}`;
  const codec = fieldCodec(context.dialect);
  const decoded = decodeLossless(field, codec.fromOssie);
  noteStale(context, at, decoded.stale);
  if (isUsableExpression(decoded.ktx['expr'], context.dialect))
    return keepOssieOnlyKeys(decoded, codec.toOssie);
  context.addMisfit(at, 'left out: ktx cannot use its expression');
  return undefined;
}

const fieldExprSchema = datasetSchema.shape.fields.unwrap().element.shape.expr;

function isUsableExpression(expr: unknown, dialect: Dialect): boolean {
  if (expr === undefined) return true;
  const { data } = fieldExprSchema.safeParse(expr);
  const text = data === undefined ? undefined : textForDialect(data, dialect);
  return text !== undefined && tryParseFragment(text, dialect)?.aggregates.length === 0;
}

function readRelationships(
  relationships: readonly OssieRelationship[],
  ktxNames: ReadonlyMap<string, string>,
  context: ReadContext,
): ReadList {
  const isKnown = ({ from, to }: OssieRelationship) => ktxNames.has(from) && ktxNames.has(to);
  const decoded = relationships.filter(isKnown).map((relationship) => {
    const [from = '', to = ''] = [ktxNames.get(relationship.from), ktxNames.get(relationship.to)];
    const parallel = relationships.filter(
      (candidate) => candidate.from === relationship.from && candidate.to === relationship.to,
    );
    const isOnlyJoin = parallel.length === 1;
    const codec = relationshipCodec({ from, name: '', isOnlyJoin });
    const result = decodeLossless(relationship, (object) =>
      codec.fromOssie({ ...object, from, to }),
    );
    noteStale(context, `relationships.${relationship.name}`, result.stale);
    return { ...result, from, isOnlyJoin };
  });
  const names = uniqueNames(
    decoded.map(({ from, ktx }) => `${from}_to_${String(ktx['role'] ?? ktx['to'])}`),
  );
  const objects = decoded.map((result, index) => {
    const { from, isOnlyJoin } = result;
    const { toOssie } = relationshipCodec({ from, name: names[index] ?? '', isOnlyJoin });
    return { home: from, object: keepOssieOnlyKeys(result, toOssie) };
  });
  const unused = relationships.filter((relationship) => !isKnown(relationship));
  for (const { name } of unused)
    context.addMisfit(`relationships.${name}`, 'left out: the model lacks one of its datasets');
  return { objects, unused };
}

/**
 * `datasetsWith` gives the datasets with these metrics and their relationships: a metric may use
 * other metrics.
 */
function readMetrics(
  metrics: readonly OssieMetric[],
  context: ReadContext,
  datasetsWith: (metrics: readonly OwnedObject[]) => DatasetScope['datasets'],
): ReadList {
  const decoded = metrics.map((metric) => decodeMetric(metric, context));
  const usable = decoded.flatMap(({ entry, definition, ...rest }) =>
    entry === undefined || definition === undefined ? [] : [{ ...rest, entry, definition }],
  );
  const names = modelWideNames(usable.map(({ entry }) => entry));
  const datasets = datasetsWith(
    usable.map(({ entry, definition }) => ({
      home: entry.dataset,
      object: omitKeys(definition),
    })),
  );
  const objects = usable.map(({ metric, ossie, entry, definition }, index) => {
    const { toOssie } = metricCodec({ ...context, datasets, name: names[index] ?? metric.name });
    const ktx = toMetricEntry(definition, entry.dataset);
    return {
      home: entry.dataset,
      object: flattenMetricEntry(keepOssieOnlyKeys({ ktx, ossie }, toOssie)),
    };
  });
  const unused = decoded.filter(({ definition }) => definition === undefined);
  return { objects, unused: unused.map(({ metric }) => metric) };
}

/** `definition` is undefined if ktx cannot use the metric. */
function decodeMetric(metric: OssieMetric, context: ReadContext) {
  const at = `metrics.${metric.name}`;
  const { fromOssie } = metricCodec({ ...context, name: metric.name });
  const { ktx, ossie, stale } = decodeLossless(metric, fromOssie);
  noteStale(context, at, stale);
  const entry = metricEntrySchema.safeParse(ktx).data;
  const hasHome = entry !== undefined && context.datasets.has(entry.dataset);
  const definition = hasHome ? metricOfEntry(entry) : undefined;
  if (definition === undefined)
    context.addMisfit(
      at,
      'left out: ktx cannot use its expression, or the expression names no dataset',
    );
  return { metric, ossie, entry, definition };
}

function flattenMetricEntry(entry: PlainObject): PlainObject {
  const list = entry['definition'];
  const definition: unknown = Array.isArray(list) ? list[0] : undefined;
  return {
    ...omitKeys(entry, 'dataset', 'definition'),
    ...(isRecord(definition) ? definition : {}),
  };
}

function noteStale({ addMisfit }: ReadContext, at: string, stale: readonly string[]): void {
  if (stale.length > 0)
    addMisfit(
      at,
      `edited since ktx wrote it: ktx's own values for ${stale.join(', ')} are dropped`,
    );
}
