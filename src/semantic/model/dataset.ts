import { z } from 'zod';
import { timeGrains } from '../../sql/dialect.ts';
import { fieldTypes } from '../../sql/field-type.ts';
import { metricSchema } from './metric-definition.ts';
import {
  descriptionSchema,
  expressionSchema,
  extensionsSchema,
  hiddenSchema,
  nameSchema,
  ownerSchema,
  synonymsSchema,
} from './schema-parts.ts';

/** YAML 1.1 reads `yes` and `no` as booleans, so both forms are valid. */
const piiSchema = z.literal(['yes', 'no', true, false]).optional();
/** YAML 1.1 reads `off` as false. */
const offSchema = z.literal(['off', false]);

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
      'All values that the field can have; or `off`: ktx neither keeps values of its columns ' +
        'nor sends them to a model in a scan or an ingest.',
    ),
  pii: piiSchema.describe(
    'Whether the field is personal data, `yes` or `no`. It overrules what the scan infers. ' +
      'Default: what the scan infers.',
  ),
  hidden: hiddenSchema,
  synonyms: synonymsSchema,
  extensions: extensionsSchema,
});

const parameterValueSchema = z.union([z.string(), z.number(), z.boolean()]);
export type ParameterValue = z.infer<typeof parameterValueSchema>;
const parameterSchema = z.strictObject({
  name: nameSchema.describe('Expressions in this file write param.name.'),
  type: z.enum(['string', 'integer', 'decimal', 'boolean', 'date']).describe('Type of the values.'),
  default: parameterValueSchema
    .optional()
    .describe(
      'Value for queries that give none. Without a default, every query that uses the ' +
        'parameter must give a value.',
    ),
  values: z
    .array(parameterValueSchema)
    .min(1)
    .optional()
    .describe('The only values that a query may give.'),
  description: descriptionSchema,
});
export type ParameterDefinition = z.infer<typeof parameterSchema>;

const segmentSchema = z.strictObject({
  name: nameSchema.describe('Queries write dataset.name.'),
  where: expressionSchema.describe(
    'SQL condition on a row. The segment has the rows that meet it.',
  ),
  description: descriptionSchema,
  synonyms: synonymsSchema,
});

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
      'Range of the target that a value must lie in, such as its time of validity. Ranges of ' +
        'target rows with equal columns must not overlap.',
    ),
  role: nameSchema
    .optional()
    .describe('Name of this path in queries, like buyer. Default: the name of the target.'),
  shared: z
    .literal(true)
    .optional()
    .describe(
      'True if other relationships of this dataset have the same role. A path takes the one ' +
        'whose target has what the path names next.',
    ),
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
      'Path from the rows of the metric to this dataset, like orders.buyer. Needed if there ' +
        'are several.',
    ),
  type: fieldSchema.shape.type,
  description: descriptionSchema,
  synonyms: synonymsSchema,
});

const conformedDimensionSchema = z.strictObject({
  name: nameSchema.describe(
    'Name in queries, behind that of the dataset. It is used like a field.',
  ),
  fields: z
    .array(z.string())
    .min(2)
    .describe(
      'What it is for the rows of each dataset, like orders.buyer.segment and ' +
        'tickets.customers.segment: a field of that dataset, or the path to one.',
    ),
  description: descriptionSchema,
  synonyms: synonymsSchema,
});

const accessSchema = z.strictObject({
  role: z.string().min(1).describe('Role that may see the rows.'),
  where: expressionSchema.describe(
    'SQL condition on the rows that the role may see; `true` for all rows.',
  ),
});

const timeSpineSchema = z.strictObject({
  column: z.string().describe('Time field that has each period once, without gaps.'),
  grain: z
    .enum(timeGrains)
    .describe('The period that a row stands for: second, minute, hour, day, week, month…'),
  custom_periods: z
    .record(nameSchema, z.string())
    .optional()
    .describe(
      'Periods of a calendar of your own, each with the field that names the period of a ' +
        'row, like {retail_week: retail_week_start}. Queries use them like month: ' +
        'metric_time.retail_week.',
    ),
});

const columnsSchema = z.array(z.string());

const datasetNameSchema = z
  .string()
  .regex(/^[a-z_][a-z0-9_]*$/, 'a dataset name has lower-case letters, digits and _ only');

/** Steps of a transformation, from what is loaded to what people ask. */
export const datasetLayers = ['raw', 'staging', 'intermediate', 'mart'] as const;
export type DatasetLayer = (typeof datasetLayers)[number];

/** One file of the semantic layer: one dataset. */
export const datasetSchema = z
  .strictObject({
    dataset: datasetNameSchema.describe('Name of the dataset; the file has the same name.'),
    source: z
      .string()
      .optional()
      .describe(
        'The table: `table`, `schema.table` or `catalog.schema.table`. Put double quotes ' +
          'around a part that contains a dot.',
      ),
    sql: z
      .string()
      .optional()
      .describe('A SELECT to use instead of a table. Give either `source` or `sql`.'),
    description: descriptionSchema,
    synonyms: synonymsSchema,
    tags: z.array(z.string()).optional().describe('Labels of your choice.'),
    owner: ownerSchema,
    layer: z
      .enum(datasetLayers)
      .optional()
      .describe(
        'Where the table stands in a transformation. Search and lists show marts first. ' +
          'Default: what its name tells, like `stg_orders`.',
      ),
    constraints: z
      .array(z.string().min(1))
      .optional()
      .describe(
        'Conditions that the rows meet, for whoever reads the file: for example what dbt ' +
          'tests. Queries do not use them.',
      ),
    values: offSchema
      .optional()
      .describe(
        '`off`: ktx neither keeps values of any column of the table nor sends them to a ' +
          'model in a scan or an ingest.',
      ),
    pii: piiSchema.describe(
      'Whether all columns are personal data, `yes` or `no`, where a field does not say it ' +
        'for itself. Default: what the scan infers for each column.',
    ),
    primary_key: columnsSchema
      .optional()
      .describe('Fields that identify a row. Empty or absent: no key.'),
    unique_keys: z
      .array(columnsSchema)
      .optional()
      .describe('Other keys. Each is a list of fields.'),
    entity: nameSchema
      .optional()
      .describe(
        'What one row is, like customer. In queries it stands for the dataset, as a role ' +
          'does elsewhere.',
      ),
    partition: z
      .string()
      .optional()
      .describe(
        'Time field of the partition, if the table repeats its rows in each partition. Joins ' +
          'on a path take the partition of the dataset before that has one.',
      ),
    missing: z
      .literal('none')
      .optional()
      .describe(
        '`none`: a metric of this dataset is NULL in a group without rows, also in ' +
          'arithmetic. Default: a count is 0 there, and a sum counts as 0 in arithmetic.',
      ),
    default_time: z
      .string()
      .optional()
      .describe('Time field that `metric_time` stands for in metrics of this dataset.'),
    unreviewed: z
      .array(z.enum(['default_time']))
      .optional()
      .describe(
        'Keys of this file that only names of columns suggest. `ktx review accept` accepts ' +
          'one, or remove it here.',
      ),
    time_spine: timeSpineSchema
      .optional()
      .describe(
        'Says that the table has one row for each period, as a time spine of dbt. Metrics ' +
          'with join_to_timespine or over_time_spine read it.',
      ),
    fiscal_year_start: z
      .int()
      .min(1)
      .max(12)
      .optional()
      .describe(
        'Month (1-12) in which fiscal years begin. Needed for the grains fiscal_year and ' +
          'fiscal_quarter.',
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
    conformed_dimensions: z
      .array(conformedDimensionSchema)
      .optional()
      .describe(
        'Dimensions that metrics of several datasets share, each with the field of its own rows.',
      ),
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
        'Row rules. Without any, every role sees every row. With any, a role sees only the ' +
          'rows that its rules allow, and a role without a rule sees none.',
      ),
    extensions: extensionsSchema,
  })
  .describe('A dataset of the semantic layer.');
export type Dataset = z.infer<typeof datasetSchema>;

/** The values that a file declares for a field; undefined if it declares none. */
export function declaredValues({ values }: Pick<NonNullable<Dataset['fields']>[number], 'values'>) {
  return Array.isArray(values) ? values : undefined;
}

/**
 * Splits a `source` into its parts, unquoted. Undefined unless it has one to three parts. `""` in a
 * quoted part is a quote.
 */
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
