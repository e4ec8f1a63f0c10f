import type { z } from 'zod';
import type { Dialect } from '../../../sql/dialect.ts';
import { datasetSchema } from '../../model/dataset.ts';
import type { Forms } from './lossless.ts';
import { metricIn, metricOut, placedSchema, type Together, unplaced } from './metric-conversion.ts';
import {
  ossieDatasetSchema,
  ossieFieldSchema,
  ossieMetricSchema,
  ossieRelationshipSchema,
} from './schema.ts';
import {
  datasetIn,
  datasetOut,
  fieldIn,
  fieldOut,
  relationshipIn,
  relationshipOut,
} from './dataset-conversion.ts';
import { type Entry, without } from '../patch.ts';

const fieldSchema = datasetSchema.shape.fields.unwrap().element;
const relationshipSchema = datasetSchema.shape.relationships.unwrap().element;
const headSchema = datasetSchema
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

export function fieldForms(dialect: Dialect): Forms {
  return {
    out: (view) => typed(fieldSchema, view, (field) => fieldOut(field, dialect)),
    back: (entry) =>
      typed(ossieFieldSchema, entry, (field) => without(fieldIn(field, dialect))) ?? {},
  };
}

/** Of a dataset without its lists. */
export const datasetForms: Forms = {
  out: (view) => typed(headSchema, view, datasetOut),
  back: (entry) => typed(ossieDatasetSchema, entry, (dataset) => without(datasetIn(dataset))) ?? {},
};

export function relationshipForms({
  from,
  name,
  isOnly,
}: {
  from: string;
  name: string;
  isOnly: boolean;
}): Forms {
  return {
    out: (view) =>
      typed(relationshipSchema, view, (relationship) =>
        named(relationshipOut(relationship, from), name),
      ),
    back: (entry) =>
      typed(ossieRelationshipSchema, entry, (relationship) =>
        without(relationshipIn(relationship, isOnly)),
      ) ?? {},
  };
}

/** `name`: in the model, where the names of all datasets meet. */
export function metricForms({ name, ...together }: Together & { readonly name: string }): Forms {
  return {
    out: (view) =>
      typed(placedSchema, view, (placed) => {
        const home = together.datasets.get(placed.dataset);
        const metric = unplaced(placed);
        return home && metric && metricOut(metric, name, { ...together, home });
      }),
    back: (entry) => typed(ossieMetricSchema, entry, (metric) => metricIn(metric, together)) ?? {},
  };
}

function named(entry: Entry | undefined, name: string): Entry | undefined {
  return entry && { ...entry, name };
}

/** Undefined for what does not fit: a patch from outside may make anything. */
function typed<T>(
  schema: z.ZodType<T>,
  entry: Entry,
  convert: (value: T) => Entry | undefined,
): Entry | undefined {
  const { data } = schema.safeParse(entry);
  return data === undefined ? undefined : convert(data);
}
