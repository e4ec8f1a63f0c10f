import { z } from 'zod';
import { periodSchema } from '../model/schema-parts.ts';

const filterOperators = [
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'not_in',
  'between',
  'is_null',
  'is_not_null',
  'contains',
  'starts_with',
  'ends_with',
] as const;
export type FilterOperator = (typeof filterOperators)[number];

const exactNumberSchema = z
  .number()
  .refine(
    (value) => !Number.isInteger(value) || Number.isSafeInteger(value),
    'a whole number beyond 2^53 is not exact here; write it as text, or write the condition in SQL',
  );
const valueSchema = z.union([z.string(), exactNumberSchema, z.boolean(), z.null()]);
export type FilterValue = z.infer<typeof valueSchema>;

const sqlSchema = z.string().min(1).max(10_000);
const comparisonSchema = z.strictObject({
  field: z.string(),
  op: z.enum(filterOperators),
  value: z
    .union([valueSchema, z.array(valueSchema).min(1)])
    .optional()
    .describe('A list for in, not_in, between.'),
});
const scopedSchema = z.strictObject({
  on: z.string().describe('Only metrics of this dataset.'),
  where: sqlSchema,
});
export type Comparison = z.infer<typeof comparisonSchema>;
export type Condition = string | Comparison | z.infer<typeof scopedSchema>;

const queryMetricSchema = z.union([
  z.string().min(1).describe('A metric, or an aggregate like `sum(orders.amount)`.'),
  z.strictObject({
    name: z.string().min(1).describe('Other metrics can use it.'),
    expr: z.string().min(1).describe('SQL over aggregates, metrics, names of this query.'),
  }),
]);

const orderSchema = z.strictObject(
  {
    field: z.string(),
    dir: z.enum(['asc', 'desc']).default('asc').describe('NULLs come last.'),
  },
  { error: ({ input }) => (typeof input === 'string' ? orderHint(input) : undefined) },
);

/** For `orders.revenue desc`, as SQL and command line have it. */
function orderHint(text: string): string {
  const [field = ''] = text.replace(/^[\s-]+/u, '').split(/[\s:]/u);
  const dir = /^\s*-|\bdesc/iu.test(text) ? 'desc' : 'asc';
  return `must be a map like {field: ${JSON.stringify(field)}, dir: ${dir}}, not a text`;
}

const namesSchema = z.array(z.string().min(1)).default([]);
const zoneSchema = z.string().refine(isTimezone, 'an IANA time zone, like Europe/Paris').optional();

/** A question to the semantic layer, the same on every surface. */
export const querySchema = z.strictObject({
  metrics: z.array(queryMetricSchema).default([]).describe('None: distinct dimension values.'),
  dimensions: namesSchema.describe(
    'dataset.field or a path of roles, orders.buyer.regions.name. Times take a grain: .month. ' +
      'metric_time: of each metric.',
  ),
  where: z
    .array(z.union([sqlSchema, comparisonSchema, scopedSchema]))
    .max(100)
    .default([])
    .describe('Conditions on rows.'),
  having: z
    .array(z.union([sqlSchema, comparisonSchema]))
    .max(100)
    .default([])
    .describe('On metrics.'),
  segments: namesSchema.describe('As dataset.segment.'),
  parameters: z
    .record(z.string(), z.unknown().pipe(z.union([z.string(), exactNumberSchema, z.boolean()])))
    .default({}),
  order_by: z.array(orderSchema).default([]),
  limit: z.int().positive().optional(),
  share_of: z.string().optional().describe('Of total, or of dimensions.'),
  compare_to: periodSchema.optional().describe('1 year: adds previous, difference, growth.'),
  over_rows: namesSchema.describe(
    '`rank of orders.revenue per orders.status`, previous, next, running, average, to_average.',
  ),
  top: z.coerce.string().optional().describe('`3 of orders.revenue per orders.status`'),
  others: z.boolean().default(false).describe('Add a row for the rest.'),
  qualify: namesSchema.describe('On result columns.'),
  rollup: z.boolean().default(false).describe('Add totals.'),
  timezone: zoneSchema.describe('Default: UTC.'),
  week_start: z.enum(['monday', 'sunday']).default('monday'),
  include_empty: z.boolean().default(false).describe('Add members without rows.'),
  skip_empty: z.boolean().default(false).describe('Drop groups without rows.'),
  fill_time: z.boolean().default(false).describe('Add periods without rows.'),
  allow_unproven: z.boolean().default(false).describe('One row per contradicted key.'),
});
export type SemanticQuery = z.infer<typeof querySchema>;

/** No offsets: Postgres reads their sign the other way round. */
function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
