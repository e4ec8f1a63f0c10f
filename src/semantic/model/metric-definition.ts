import { z } from 'zod';
import { aggregateFunctions } from '../../sql/aggregates.ts';
import { timeGrains } from '../../sql/dialect.ts';
import {
  descriptionSchema,
  expressionSchema,
  extensionsSchema,
  hiddenSchema,
  nameSchema,
  ownerSchema,
  synonymsSchema,
  periodSchema,
} from './schema-parts.ts';

const grainSchema = z.enum([
  'minute',
  'hour',
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
const overTimeSpineSchema = z
  .literal(true)
  .optional()
  .describe(
    'True to show the periods of the time spine, as MetricFlow does. Default: the periods that have rows.',
  );
const cumulativeSchema = z.strictObject({
  of: z.string().describe('Metric to add up over time.'),
  window: periodSchema
    .optional()
    .describe('Length of the trailing window, like `7 days`. Default: all time.'),
  grain_to_date: grainSchema
    .optional()
    .describe('The total starts again at the beginning of each of these periods, like month.'),
  over_time_spine: overTimeSpineSchema,
  period_agg: z
    .enum(['first', 'last', 'average'])
    .optional()
    .describe(
      'Over the time spine: which total a longer period shows. The totals are computed for each `time_granularity`. Default: first.',
    ),
});
const offsetSchema = z.strictObject({
  of: z.string().describe('Metric to read in the earlier period.'),
  by: periodSchema.optional().describe('How far back the earlier period is, like `1 year`.'),
  to_grain: z
    .enum(timeGrains)
    .optional()
    .describe(
      'Over the time spine, instead of `by`: reads the metric at the start of this period, like month.',
    ),
  over_time_spine: overTimeSpineSchema,
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

/** A metric as its dataset file has it. */
export const metricSchema = z.strictObject({
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
  time: nameSchema
    .optional()
    .describe('Time field that `metric_time` stands for in this metric. Default: `default_time`.'),
  join_to_timespine: z
    .literal(true)
    .optional()
    .describe(
      'True to show every period of the time spine, also without rows, if the query groups by the time of the metric.',
    ),
  time_granularity: z
    .enum(timeGrains)
    .optional()
    .describe(
      'For a cumulative metric over the time spine: the period to compute it for. Default: day.',
    ),
  default: z.number().optional().describe('Value of the metric in a group where it would be NULL.'),
  unit: z.string().optional().describe('Unit of the result, like EUR.'),
  owner: ownerSchema,
  description: descriptionSchema,
  unreviewed: z
    .literal(true)
    .optional()
    .describe(
      'True for a metric that only a model read, or that only names of columns suggest. Queries can use it by its full name, and answers say so. `ktx review accept` accepts it, or remove the line.',
    ),
  hidden: hiddenSchema,
  synonyms: synonymsSchema,
  extensions: extensionsSchema,
});
export type MetricDefinition = z.infer<typeof metricSchema>;
