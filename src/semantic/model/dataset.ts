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
    'SQL fragment in the dialect of the connection, or a map from dialect to fragment with a `default`.',
  );
export type ExpressionText = z.infer<typeof expressionSchema>;

const synonymsSchema = z
  .array(z.string())
  .optional()
  .describe('Other words that people use for it.');
const descriptionSchema = z.string().optional().describe('What it means, in plain words.');
const hiddenSchema = z
  .boolean()
  .optional()
  .describe('Out of reach of every query; the model itself may use it.');

const extensionsSchema = z
  .record(z.string(), z.json())
  .optional()
  .describe('What another format has and ktx has no word for, by format; kept for export.');

const fieldSchema = z.strictObject({
  name: nameSchema.describe('Name in queries; also the column where there is no `expr`.'),
  type: z
    .enum(fieldTypes)
    .optional()
    .describe('string, integer, decimal, boolean, date, datetime, datetime_tz, or unknown.'),
  expr: expressionSchema
    .optional()
    .describe('Row-level SQL over columns and other fields of the dataset.'),
  description: descriptionSchema,
  values: z
    .array(z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('Every value that it can have, where that is declared.'),
  hidden: hiddenSchema,
  synonyms: synonymsSchema,
  extensions: extensionsSchema,
});

const segmentSchema = z.strictObject({
  name: nameSchema.describe('Name in queries, as dataset.name.'),
  where: expressionSchema.describe('Row filter.'),
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
  numerator: z.string().describe('Metric above the line.'),
  denominator: z.string().describe('Metric below the line; 0 gives NULL.'),
});
const cumulativeSchema = z.strictObject({
  of: z.string().describe('Metric that is accumulated.'),
  window: periodSchema.optional().describe('Trailing window, like `7 days`; without it, all time.'),
  grain_to_date: grainSchema.optional().describe('Starts anew at each period, like month.'),
});
const offsetSchema = z.strictObject({
  of: z.string().describe('Metric that is shifted.'),
  by: periodSchema.describe('How far back, like `1 year`.'),
});
const totalSchema = z.strictObject({
  of: z.string().describe('Metric that is computed over more than one group.'),
  by: z
    .array(z.string())
    .optional()
    .describe(
      'Dimensions of the query that stay apart, like items.class; without any, all groups are one.',
    ),
});
const semiAdditiveSchema = z.strictObject({
  over: nameSchema.describe('Time field over which the values must not be summed.'),
  take: z
    .enum(['first', 'last', 'min', 'max', 'avg'])
    .describe('Which value of the period counts.'),
  per: z
    .array(nameSchema)
    .optional()
    .describe(
      'Fields of what has a value each, like account_id; by default the primary key without `over`.',
    ),
});

const conversionSchema = z.strictObject({
  base: z.string().describe('Metric that counts the first events.'),
  to: z.string().describe('Metric that counts the events that follow.'),
  on: z
    .record(z.string(), z.string())
    .describe('Fields of the base to those of the other that must be equal.'),
  window: periodSchema
    .optional()
    .describe('How long after the base an event still counts, like `7 days`; without it, ever.'),
  calculation: z
    .enum(['conversion_rate', 'conversions'])
    .describe('Share of the base events, or how many.'),
});

const parameterValueSchema = z.union([z.string(), z.number(), z.boolean()]);
export type ParameterValue = z.infer<typeof parameterValueSchema>;
const parameterSchema = z.strictObject({
  name: nameSchema.describe('Name, which expressions of this file write as param.name.'),
  type: z
    .enum(['string', 'integer', 'decimal', 'boolean', 'date'])
    .describe('What its values are.'),
  default: parameterValueSchema
    .optional()
    .describe('Where a query gives none; without it, every query that needs it has to.'),
  values: z
    .array(parameterValueSchema)
    .min(1)
    .optional()
    .describe('The only values that it can have.'),
  description: descriptionSchema,
});
export type ParameterDefinition = z.infer<typeof parameterSchema>;

const metricSchema = z.strictObject({
  name: nameSchema.describe('Name in queries, as dataset.name.'),
  agg: z.enum(aggregateFunctions).optional().describe('Aggregate of `of`.'),
  of: expressionSchema.optional().describe('What is aggregated; only a count can do without.'),
  fraction: z.number().min(0).max(1).optional().describe('Of a percentile, 0 to 1.'),
  expr: expressionSchema
    .optional()
    .describe('Aggregates written out, or arithmetic over other metrics by name.'),
  per: z
    .string()
    .optional()
    .describe(
      'Aggregates twice: `of` is a metric or aggregates, computed for each of this field, like buyer.id.',
    ),
  where: expressionSchema
    .optional()
    .describe('Row filter of this metric; on a derived metric it applies to its inputs.'),
  ratio: ratioSchema.optional().describe('Real division of two metrics.'),
  cumulative: cumulativeSchema.optional().describe('Running total.'),
  offset: offsetSchema.optional().describe('The value of an earlier period.'),
  total: totalSchema.optional().describe('The value over all groups of the result, for shares.'),
  semi_additive: semiAdditiveSchema.optional().describe('For balances and stocks.'),
  conversion: conversionSchema.optional().describe('How often one event is followed by another.'),
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
  field: z.string().describe('Own field whose value lies in the range, like placed_at.'),
  from: z.string().describe('Field of the target where its range begins; NULL has no beginning.'),
  to: z.string().describe('Field of the target where its range ends; NULL has no end.'),
  includes_end: z
    .boolean()
    .optional()
    .describe('True where `to` still belongs to the range; a date is a whole day.'),
});

const relationshipSchema = z.strictObject({
  to: z.string().describe('Target dataset: the one side.'),
  on: joinSchema.describe('Own columns to those of the target, or a SQL condition over both.'),
  within: withinSchema
    .optional()
    .describe(
      'Range or validity window of the target: of those with equal columns, one has the value at most.',
    ),
  role: nameSchema
    .optional()
    .describe('Name of this path in queries, like buyer; by default the target’s name.'),
  cardinality: cardinalitySchema
    .optional()
    .describe('How many rows meet how many; many_to_one by default.'),
  via: z.string().optional().describe('The bridge dataset of a many_to_many.'),
  description: descriptionSchema,
  extensions: extensionsSchema,
});

const rowMetricSchema = z.strictObject({
  name: nameSchema.describe('Name in queries, like that of a field.'),
  metric: z.string().describe('Metric of the rows that belong to this one, as dataset.name.'),
  via: z
    .string()
    .optional()
    .describe('Path from those rows to this dataset, like orders.buyer, where there are several.'),
  type: fieldSchema.shape.type,
  description: descriptionSchema,
  synonyms: synonymsSchema,
});

const accessSchema = z.strictObject({
  role: z.string().min(1).describe('Who may see the rows.'),
  where: expressionSchema.describe('Which rows; `true` for all of them.'),
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
        'Table: `table`, `schema.table` or `catalog.schema.table`; "quote" a part with a dot.',
      ),
    sql: z.string().optional().describe('A query, in place of `source`.'),
    description: descriptionSchema,
    synonyms: synonymsSchema,
    tags: z.array(z.string()).optional().describe('Free labels.'),
    primary_key: columnsSchema
      .optional()
      .describe('Fields that identify a row; empty or absent means no key.'),
    unique_keys: z.array(columnsSchema).optional().describe('Further keys, each a list of fields.'),
    default_time: z
      .string()
      .optional()
      .describe('Time field that `metric_time` means for the metrics of this dataset.'),
    fiscal_year_start: z
      .int()
      .min(1)
      .max(12)
      .optional()
      .describe(
        'Month (1-12) in which fiscal years begin, for the grains fiscal_year and fiscal_quarter of its times.',
      ),
    parameters: z
      .array(parameterSchema)
      .optional()
      .describe('Values that a query chooses, in fields, segments and metrics.'),
    fields: z
      .array(fieldSchema)
      .optional()
      .describe('Row-level columns and expressions that queries can use.'),
    row_metrics: z
      .array(rowMetricSchema)
      .optional()
      .describe('Metrics of each row, which queries use as fields.'),
    segments: z.array(segmentSchema).optional().describe('Named row filters.'),
    metrics: z.array(metricSchema).optional().describe('Aggregates.'),
    relationships: z.array(relationshipSchema).optional().describe('Joins to the one side.'),
    access: z
      .array(accessSchema)
      .min(1)
      .optional()
      .describe(
        'Row rules: with any, only the roles that are named here see rows, each those of its rules, in every query.',
      ),
    extensions: extensionsSchema,
  })
  .describe('A dataset of the semantic layer.');
export type Dataset = z.infer<typeof datasetSchema>;

/** The parts of a `source`; a quoted part may hold anything, with its quote doubled. Undefined where it is not one to three parts. */
export function sourceParts(source: string): readonly string[] | undefined {
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
