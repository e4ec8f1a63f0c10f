import { z } from 'zod';
import { aggregateFunctions } from '../../sql/aggregates.ts';
import { fieldTypes } from '../../sql/field-type.ts';

/** Field, metric, segment and role names: what a query can write without quotes. */
const nameSchema = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a name has letters, digits and _ only');

const expressionSchema = z
  .union([z.string().min(1), z.record(z.string(), z.string().min(1))])
  .describe(
    'A SQL expression in the dialect of the connection. For several dialects: a map from dialect to expression, with a `default`.',
  );
export type ExpressionText = z.infer<typeof expressionSchema>;

const synonymsSchema = z
  .array(z.string())
  .optional()
  .describe('Other words that people use for this.');
const descriptionSchema = z.string().optional().describe('What this means, in plain words.');
const hiddenSchema = z
  .boolean()
  .optional()
  .describe('If true, queries cannot use this; other definitions in the model can.');

/** YAML 1.1 reads `yes` and `no` as booleans, so both forms are valid. */
const piiSchema = z.literal(['yes', 'no', true, false]).optional();
/** YAML 1.1 reads `off` as false. */
const offSchema = z.literal(['off', false]);

const extensionsSchema = z
  .record(z.string(), z.json())
  .optional()
  .describe(
    'Settings of other formats that ktx has no key for, by format. They are kept for export.',
  );

const fieldSchema = z.strictObject({
  name: nameSchema.describe('Name in queries. Without `expr`, also the name of the column.'),
  type: z
    .enum(fieldTypes)
    .optional()
    .describe('string, integer, decimal, boolean, date, datetime, datetime_tz, or unknown.'),
  expr: expressionSchema
    .optional()
    .describe('SQL that computes the field from columns and other fields of the same row.'),
  description: descriptionSchema,
  values: z
    .union([z.array(z.union([z.string(), z.number(), z.boolean()])), offSchema])
    .optional()
    .describe(
      'All values that the field can have; or `off`: ktx neither keeps values of its columns nor sends them to a model in a scan or an ingest.',
    ),
  pii: piiSchema.describe(
    'Whether the field is personal data, `yes` or `no`. It overrules what the scan infers. Default: what the scan infers.',
  ),
  hidden: hiddenSchema,
  synonyms: synonymsSchema,
  extensions: extensionsSchema,
});

const segmentSchema = z.strictObject({
  name: nameSchema.describe('Queries write dataset.name.'),
  where: expressionSchema.describe(
    'SQL condition on a row. The segment has the rows that meet it.',
  ),
  description: descriptionSchema,
  synonyms: synonymsSchema,
});

const periodPattern = /^\d+ (second|minute|hour|day|week|month|quarter|year)s?$/;
const periodSchema = z.string().regex(periodPattern, 'a number and a period, like `1 year`');
const grainSchema = z.enum([
  'day',
  'week',
  'month',
  'quarter',
  'fiscal_quarter',
  'year',
  'fiscal_year',
]);

const ratioSchema = z.strictObject({
  numerator: z.string().describe('Metric to divide.'),
  denominator: z.string().describe('Metric to divide by. If it is 0, the result is NULL.'),
});
const cumulativeSchema = z.strictObject({
  of: z.string().describe('Metric to add up over time.'),
  window: periodSchema
    .optional()
    .describe('Length of the trailing window, like `7 days`. Default: all time.'),
  grain_to_date: grainSchema
    .optional()
    .describe('The total starts again at the beginning of each of these periods, like month.'),
});
const offsetSchema = z.strictObject({
  of: z.string().describe('Metric to read in the earlier period.'),
  by: periodSchema.describe('How far back the earlier period is, like `1 year`.'),
});
const totalSchema = z.strictObject({
  of: z.string().describe('Metric to compute over several groups together.'),
  by: z
    .array(z.string())
    .optional()
    .describe(
      'Dimensions of the query to keep separate, like items.class: one total for each of their values. Without any, one total over all groups.',
    ),
});
const semiAdditiveSchema = z.strictObject({
  over: nameSchema.describe('Time field over which values must not be added up.'),
  take: z.enum(['first', 'last', 'min', 'max', 'avg']).describe('Which value of a period to use.'),
  per: z
    .array(nameSchema)
    .optional()
    .describe(
      'Fields that identify what each value belongs to, like account_id. Default: the primary key without `over`.',
    ),
});

const conversionSchema = z.strictObject({
  base: z.string().describe('Metric that counts the first events.'),
  to: z.string().describe('Metric that counts the later events.'),
  on: z
    .record(z.string(), z.string())
    .describe(
      'Map from fields of the first event to the fields of the later event that must be equal.',
    ),
  window: periodSchema
    .optional()
    .describe(
      'How long after the first event a later event still counts, like `7 days`. Default: no limit.',
    ),
  calculation: z
    .enum(['conversion_rate', 'conversions'])
    .describe(
      '`conversion_rate`: the share of first events that a later event follows. `conversions`: their number.',
    ),
});

const parameterValueSchema = z.union([z.string(), z.number(), z.boolean()]);
export type ParameterValue = z.infer<typeof parameterValueSchema>;
const parameterSchema = z.strictObject({
  name: nameSchema.describe('Expressions in this file write param.name.'),
  type: z.enum(['string', 'integer', 'decimal', 'boolean', 'date']).describe('Type of the values.'),
  default: parameterValueSchema
    .optional()
    .describe(
      'Value for queries that give none. Without a default, every query that uses the parameter must give a value.',
    ),
  values: z
    .array(parameterValueSchema)
    .min(1)
    .optional()
    .describe('The only values that a query may give.'),
  description: descriptionSchema,
});
export type ParameterDefinition = z.infer<typeof parameterSchema>;

const metricSchema = z.strictObject({
  name: nameSchema.describe('Queries write dataset.name.'),
  agg: z.enum(aggregateFunctions).optional().describe('Aggregate function, applied to `of`.'),
  of: expressionSchema.optional().describe('What to aggregate. Only a count works without it.'),
  fraction: z.number().min(0).max(1).optional().describe('Which percentile to take, from 0 to 1.'),
  expr: expressionSchema
    .optional()
    .describe('SQL with aggregates, or arithmetic over the names of other metrics.'),
  per: z
    .string()
    .optional()
    .describe(
      'Field for a nested aggregate, like buyer.id: `of` (a metric or aggregates) is computed for each of its values, then `agg` aggregates the results.',
    ),
  where: expressionSchema
    .optional()
    .describe(
      'SQL condition on the rows of this metric. On a derived metric, it applies to the metrics that it is made of.',
    ),
  ratio: ratioSchema.optional().describe('One metric divided by another, with decimals.'),
  cumulative: cumulativeSchema.optional().describe('Running total.'),
  offset: offsetSchema.optional().describe('The value of a metric in an earlier period.'),
  total: totalSchema
    .optional()
    .describe('The value of a metric over all groups of the result, to compute shares.'),
  semi_additive: semiAdditiveSchema
    .optional()
    .describe('For balances and stocks: values that must not be added up over time.'),
  conversion: conversionSchema.optional().describe('How often another event follows an event.'),
  unit: z.string().optional().describe('Unit of the result, like EUR.'),
  description: descriptionSchema,
  hidden: hiddenSchema,
  synonyms: synonymsSchema,
  extensions: extensionsSchema,
});
export type MetricDefinition = z.infer<typeof metricSchema>;

const joinSchema = z.union([z.string().min(1), z.record(z.string(), z.string())]);
const cardinalitySchema = z.enum(['many_to_one', 'one_to_one', 'many_to_many']);

const withinSchema = z.strictObject({
  field: z
    .string()
    .describe('Field of this dataset whose value must lie in the range, like placed_at.'),
  from: z
    .string()
    .describe(
      'Field of the target in which the range begins. If it is NULL, the range has no beginning.',
    ),
  to: z
    .string()
    .describe('Field of the target in which the range ends. If it is NULL, the range has no end.'),
  includes_end: z
    .boolean()
    .optional()
    .describe(
      'True if the value of `to` belongs to the range. If it is a date, so does the whole day.',
    ),
});

const relationshipSchema = z.strictObject({
  to: z.string().describe('Target dataset: the “one” side.'),
  on: joinSchema.describe(
    'Map from columns of this dataset to columns of the target, or a SQL condition over both.',
  ),
  within: withinSchema
    .optional()
    .describe(
      'Range of the target that a value must lie in, such as its time of validity. Ranges of target rows with equal columns must not overlap.',
    ),
  role: nameSchema
    .optional()
    .describe('Name of this path in queries, like buyer. Default: the name of the target.'),
  cardinality: cardinalitySchema
    .optional()
    .describe('How many rows join to how many. Default: many_to_one.'),
  via: z.string().optional().describe('The bridge dataset of a many_to_many.'),
  description: descriptionSchema,
  extensions: extensionsSchema,
});

const rowMetricSchema = z.strictObject({
  name: nameSchema.describe('Name in queries. It is used like a field.'),
  metric: z
    .string()
    .describe(
      'Metric to compute for each row, over the rows that belong to it. Written as dataset.name.',
    ),
  via: z
    .string()
    .optional()
    .describe(
      'Path from the rows of the metric to this dataset, like orders.buyer. Needed if there are several.',
    ),
  type: fieldSchema.shape.type,
  description: descriptionSchema,
  synonyms: synonymsSchema,
});

const accessSchema = z.strictObject({
  role: z.string().min(1).describe('Role that may see the rows.'),
  where: expressionSchema.describe(
    'SQL condition on the rows that the role may see; `true` for all rows.',
  ),
});

const columnsSchema = z.array(z.string());

const datasetNameSchema = z
  .string()
  .regex(/^[a-z_][a-z0-9_]*$/, 'a dataset name has lower-case letters, digits and _ only');

/** One file of the semantic layer: one dataset. */
export const datasetSchema = z
  .strictObject({
    dataset: datasetNameSchema.describe('Name of the dataset; the file has the same name.'),
    source: z
      .string()
      .optional()
      .describe(
        'The table: `table`, `schema.table` or `catalog.schema.table`. Put double quotes around a part that contains a dot.',
      ),
    sql: z
      .string()
      .optional()
      .describe('A SELECT to use instead of a table. Give either `source` or `sql`.'),
    description: descriptionSchema,
    synonyms: synonymsSchema,
    tags: z.array(z.string()).optional().describe('Labels of your choice.'),
    values: offSchema
      .optional()
      .describe(
        '`off`: ktx neither keeps values of any column of the table nor sends them to a model in a scan or an ingest.',
      ),
    pii: piiSchema.describe(
      'Whether all columns are personal data, `yes` or `no`, where a field does not say it for itself. Default: what the scan infers for each column.',
    ),
    primary_key: columnsSchema
      .optional()
      .describe('Fields that identify a row. Empty or absent: no key.'),
    unique_keys: z
      .array(columnsSchema)
      .optional()
      .describe('Other keys. Each is a list of fields.'),
    default_time: z
      .string()
      .optional()
      .describe('Time field that `metric_time` stands for in metrics of this dataset.'),
    fiscal_year_start: z
      .int()
      .min(1)
      .max(12)
      .optional()
      .describe(
        'Month (1-12) in which fiscal years begin. Needed for the grains fiscal_year and fiscal_quarter.',
      ),
    parameters: z
      .array(parameterSchema)
      .optional()
      .describe('Parameters that fields, segments and metrics use. Queries give their values.'),
    fields: z
      .array(fieldSchema)
      .optional()
      .describe('Columns, and expressions over the columns of a row.'),
    row_metrics: z
      .array(rowMetricSchema)
      .optional()
      .describe('Metrics that are computed for each row. Queries use them as fields.'),
    segments: z.array(segmentSchema).optional().describe('Named row filters.'),
    metrics: z
      .array(metricSchema)
      .optional()
      .describe('Named aggregates over the rows of the dataset.'),
    relationships: z
      .array(relationshipSchema)
      .optional()
      .describe('Joins from this dataset to others.'),
    access: z
      .array(accessSchema)
      .min(1)
      .optional()
      .describe(
        'Row rules. Without any, every role sees every row. With any, a role sees only the rows that its rules allow, and a role without a rule sees none.',
      ),
    extensions: extensionsSchema,
  })
  .describe('A dataset of the semantic layer.');
export type Dataset = z.infer<typeof datasetSchema>;

/** The values that a file declares for a field; undefined if it declares none. */
export function declaredValues({ values }: Pick<NonNullable<Dataset['fields']>[number], 'values'>) {
  return Array.isArray(values) ? values : undefined;
}

/** Splits a `source` into its parts, unquoted. Undefined unless it has one to three parts. `""` in a quoted part is a quote. */
export function splitTableName(source: string): readonly string[] | undefined {
  const part = /^(?:"((?:[^"]|"")+)"|([^".]+))(?:\.|$)/;
  const parts: string[] = [];
  let rest = source;
  while (rest !== '') {
    const match = part.exec(rest);
    if (match === null) return undefined;
    parts.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    rest = rest.slice(match[0].length);
  }
  return parts.length >= 1 && parts.length <= 3 && !source.endsWith('.') ? parts : undefined;
}
