import { z } from 'zod';
import type { FieldType } from '../../../sql/field-type.ts';

/**
 * The parts of Apache Ossie 0.2.0.dev0 (draft) that ktx reads. All other keys are preserved unread.
 */
const identity = {
  name: z.string(),
  custom_extensions: z
    .array(z.looseObject({ vendor_name: z.string(), data: z.string() }))
    .optional(),
};
const expressionSchema = z.looseObject({
  dialects: z.array(z.looseObject({ dialect: z.string(), expression: z.string() })),
});

export const ossieFieldSchema = z.looseObject({ ...identity, expression: expressionSchema });
export const ossieMetricSchema = z.looseObject({ ...identity, expression: expressionSchema });
export const ossieRelationshipSchema = z.looseObject({
  ...identity,
  from: z.string(),
  to: z.string(),
  from_columns: z.array(z.string()),
  to_columns: z.array(z.string()),
});
export const ossieDatasetSchema = z.looseObject({
  ...identity,
  source: z.string(),
  primary_key: z.array(z.string()).optional(),
  unique_keys: z.array(z.array(z.string())).optional(),
  fields: z.array(ossieFieldSchema).optional(),
});
const ossieModelSchema = z.looseObject({
  ...identity,
  datasets: z.array(ossieDatasetSchema),
  relationships: z.array(ossieRelationshipSchema).optional(),
  metrics: z.array(ossieMetricSchema).optional(),
});

/** A whole document. */
export const ossieSchema = z.looseObject({
  version: z.string(),
  semantic_model: z.array(ossieModelSchema),
});
export const ossieVersion = '0.2.0.dev0';

export type OssieField = z.infer<typeof ossieFieldSchema>;
export type OssieMetric = z.infer<typeof ossieMetricSchema>;
export type OssieRelationship = z.infer<typeof ossieRelationshipSchema>;
export type OssieDataset = z.infer<typeof ossieDatasetSchema>;
export type OssieModel = z.infer<typeof ossieModelSchema>;
export type OssieExpression = z.infer<typeof expressionSchema>;

/** Keys of a ktx expression map and Ossie's tags for the same dialects. */
export const dialectTags: Readonly<Record<string, string>> = {
  default: 'ANSI_SQL',
  snowflake: 'SNOWFLAKE',
  databricks: 'DATABRICKS',
  bigquery: 'BIGQUERY',
  mdx: 'MDX',
  tableau: 'TABLEAU',
  maql: 'MAQL',
};

const datatypes = {
  string: 'String',
  integer: 'Integer',
  decimal: 'Decimal',
  boolean: 'Boolean',
  date: 'Date',
  datetime: 'DateTime',
  datetime_tz: 'DateTimeTz',
  unknown: 'Opaque',
} as const satisfies Record<FieldType, string>;

export function toOssieDatatype(type: FieldType | undefined): string | undefined {
  return type && datatypes[type];
}

/** `Float` becomes decimal; ktx has no type for `Time`, so it becomes unknown. */
export function fromOssieDatatype(datatype: unknown): FieldType | undefined {
  if (datatype === 'Float') return 'decimal';
  if (datatype === 'Time') return 'unknown';
  return (Object.keys(datatypes) as FieldType[]).find((type) => datatypes[type] === datatype);
}
