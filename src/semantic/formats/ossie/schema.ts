import { z } from 'zod';

/** What ktx reads of Apache Ossie 0.2.0.dev0 (draft); everything else is kept as it is. */
const named = { name: z.string() };
const extension = z.looseObject({ vendor_name: z.string(), data: z.string() });
const open = { custom_extensions: z.array(extension).optional() };
const expression = z.looseObject({
  dialects: z.array(z.looseObject({ dialect: z.string(), expression: z.string() })),
});

export const ossieFieldSchema = z.looseObject({ ...named, ...open, expression });
export const ossieMetricSchema = z.looseObject({ ...named, ...open, expression });
export const ossieRelationshipSchema = z.looseObject({
  ...named,
  ...open,
  from: z.string(),
  to: z.string(),
  from_columns: z.array(z.string()),
  to_columns: z.array(z.string()),
});
export const ossieDatasetSchema = z.looseObject({
  ...named,
  ...open,
  source: z.string(),
  primary_key: z.array(z.string()).optional(),
  unique_keys: z.array(z.array(z.string())).optional(),
  fields: z.array(ossieFieldSchema).optional(),
});
const modelSchema = z.looseObject({
  ...named,
  ...open,
  datasets: z.array(ossieDatasetSchema),
  relationships: z.array(ossieRelationshipSchema).optional(),
  metrics: z.array(ossieMetricSchema).optional(),
});

export const ossieSchema = z.looseObject({
  version: z.string(),
  semantic_model: z.array(modelSchema),
});
export const ossieVersion = '0.2.0.dev0';

export type OssieField = z.infer<typeof ossieFieldSchema>;
export type OssieMetric = z.infer<typeof ossieMetricSchema>;
export type OssieRelationship = z.infer<typeof ossieRelationshipSchema>;
export type OssieDataset = z.infer<typeof ossieDatasetSchema>;
export type OssieModel = z.infer<typeof modelSchema>;
export type OssieExpression = z.infer<typeof expression>;

/** Dialects that both know; `default` is what ktx writes for all others. */
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
} as const;
type FieldType = keyof typeof datatypes;

export function datatypeOf(type: FieldType | undefined): string | undefined {
  return type && datatypes[type];
}

/** A float is a decimal; a time of day has no word in ktx. */
export function typeOfDatatype(datatype: unknown): FieldType | undefined {
  if (datatype === 'Float') return 'decimal';
  if (datatype === 'Time') return 'unknown';
  return (Object.keys(datatypes) as FieldType[]).find((type) => datatypes[type] === datatype);
}
