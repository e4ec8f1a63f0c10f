import type { z } from 'zod';
import type { Dialect } from '../../../sql/dialect.ts';
import { datasetSchema } from '../../model/dataset.ts';
import { omitKeys, type PlainObject } from '../patch.ts';
import {
  fromOssieDataset,
  fromOssieField,
  fromOssieRelationship,
  toOssieDataset,
  toOssieField,
  toOssieRelationship,
} from './dataset-conversion.ts';
import { metricEntrySchema, metricOfEntry } from './metric-entry.ts';
import { fromOssieMetric } from './from-ossie-metric.ts';
import { type DatasetScope, toOssieMetric } from './to-ossie-metric.ts';
import {
  ossieDatasetSchema,
  ossieFieldSchema,
  ossieMetricSchema,
  ossieRelationshipSchema,
} from './schema.ts';

/**
 * Converts one kind of object both ways. What one side cannot express is lost here; `lossless.ts`
 * preserves it.
 */
export interface OssieCodec {
  /** Undefined if Ossie cannot express the object at all. */
  readonly toOssie: (ktx: PlainObject) => PlainObject | undefined;
  /** Empty if ktx cannot express the object at all. */
  readonly fromOssie: (ossie: PlainObject) => PlainObject;
}

const fieldSchema = datasetSchema.shape.fields.unwrap().element;
const relationshipSchema = datasetSchema.shape.relationships.unwrap().element;
const datasetHeadSchema = datasetSchema
  .pick({
    dataset: true,
    source: true,
    sql: true,
    description: true,
    synonyms: true,
    primary_key: true,
    unique_keys: true,
  })
  .loose();

/** For a dataset without its fields, metrics and relationships. */
export const datasetCodec: OssieCodec = {
  toOssie: (ktx) => convertIfValid(datasetHeadSchema, ktx, toOssieDataset),
  fromOssie: (ossie) =>
    convertIfValid(ossieDatasetSchema, ossie, (dataset) => omitKeys(fromOssieDataset(dataset))) ??
    {},
};

export function fieldCodec(dialect: Dialect): OssieCodec {
  return {
    toOssie: (ktx) => convertIfValid(fieldSchema, ktx, (field) => toOssieField(field, dialect)),
    fromOssie: (ossie) =>
      convertIfValid(ossieFieldSchema, ossie, (field) =>
        omitKeys(fromOssieField(field, dialect)),
      ) ?? {},
  };
}

/** `name` is the relationship's name in the Ossie model; ktx relationships have only roles. */
export function relationshipCodec({
  from,
  name,
  isOnlyJoin,
}: {
  readonly from: string;
  readonly name: string;
  readonly isOnlyJoin: boolean;
}): OssieCodec {
  return {
    toOssie: (ktx) =>
      convertIfValid(relationshipSchema, ktx, (relationship) => {
        const converted = toOssieRelationship(relationship, from);
        return converted && { ...converted, name };
      }),
    fromOssie: (ossie) =>
      convertIfValid(ossieRelationshipSchema, ossie, (relationship) =>
        omitKeys(fromOssieRelationship(relationship, isOnlyJoin)),
      ) ?? {},
  };
}

/** `name` is the metric's name in the Ossie model, where all datasets share one namespace. */
export function metricCodec({
  name,
  ...scope
}: DatasetScope & { readonly name: string }): OssieCodec {
  return {
    toOssie: (ktx) =>
      convertIfValid(metricEntrySchema, ktx, (entry) => {
        const home = scope.datasets.get(entry.dataset);
        const metric = metricOfEntry(entry);
        return home && metric && toOssieMetric(metric, name, { ...scope, home });
      }),
    fromOssie: (ossie) =>
      convertIfValid(ossieMetricSchema, ossie, (metric) => fromOssieMetric(metric, scope)) ?? {},
  };
}

/**
 * Undefined if the object does not match the schema: a patch in a foreign file may produce
 * anything.
 */
function convertIfValid<T>(
  schema: z.ZodType<T>,
  object: PlainObject,
  convert: (value: T) => PlainObject | undefined,
): PlainObject | undefined {
  const { data } = schema.safeParse(object);
  return data === undefined ? undefined : convert(data);
}
