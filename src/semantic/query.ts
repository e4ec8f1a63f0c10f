import { z } from 'zod';

export const filterOperators = [
  '=', '!=', '<', '<=', '>', '>=', 'in', 'not_in', 'between', 'is_null', 'is_not_null', 'contains', 'starts_with', 'ends_with',
] as const; // prettier-ignore
export type FilterOperator = (typeof filterOperators)[number];

const valueSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type FilterValue = z.infer<typeof valueSchema>;

const conditionSchema = z.union([
  z.string().min(1).describe('SQL condition, like `orders.status = \'paid\'`.'), // prettier-ignore
  z.strictObject({
    field: z.string().describe('Field or metric, like orders.status.'),
    op: z.enum(filterOperators).describe('Comparison.'),
    value: z.union([valueSchema, z.array(valueSchema).min(1)]).optional().describe('Value; a list for in, not_in and between.'), // prettier-ignore
  }),
]);
export type Condition = z.infer<typeof conditionSchema>;

const metricSchema = z.union([
  z.string().min(1).describe('Metric name, or an aggregate like `sum(orders.amount)`.'),
  z.strictObject({
    name: z.string().min(1).describe('Name of the result; others may use it.'),
    expr: z.string().min(1).describe('Aggregates, metrics and names of this query, in SQL arithmetic.'),
  }),
]);

/** A question to the semantic layer, the same on every surface. */
export const querySchema = z.strictObject({
  metrics: z.array(metricSchema).default([]).describe('What to compute. Without metrics: the distinct dimensions.'),
  dimensions: z
    .array(z.string().min(1))
    .default([])
    .describe('What to group by: dataset.field, a path of roles like orders.buyer.regions.name; .month and other grains on a time field; metric_time.'), // prettier-ignore
  where: z.array(conditionSchema).default([]).describe('Conditions, all of which hold.'),
  having: z.array(conditionSchema).default([]).describe('Conditions on aggregates.'),
  segments: z.array(z.string().min(1)).default([]).describe('Named filters, as dataset.segment.'),
  order_by: z
    .array(
      z.strictObject({
        field: z.string().describe('A requested dimension, or a metric.'),
        dir: z.enum(['asc', 'desc']).default('asc').describe('Direction; NULLs come last.'),
      }),
    )
    .default([])
    .describe('Order; ties follow the dimensions.'),
  limit: z.int().positive().optional().describe('Rows at most.'),
  timezone: z
    .string()
    .refine(isTimezone, 'an IANA time zone, like Europe/Paris')
    .optional()
    .describe('Zone in which periods of datetime_tz fields are cut; UTC by default.'),
  week_start: z.enum(['monday', 'sunday']).default('monday').describe('First day of a week.'),
  include_empty: z.boolean().default(false).describe('Also members of the dimensions that have no rows.'),
  fill_time: z.boolean().default(false).describe('Also periods that have no rows.'),
});
export type SemanticQuery = z.infer<typeof querySchema>;

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
