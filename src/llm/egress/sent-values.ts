import { z } from 'zod';

/** What values are to a reader: how they came about, and how much each of them shows. */
const valueKinds = [
  'range',
  'frequent',
  'declared',
  'aggregate',
  'group',
  'metric',
  'match',
  'row',
  'error',
] as const;

/**
 * Values of one column that a model gets, as a number and never as themselves. Kinds: `range`
 * smallest and largest value, `frequent` most frequent values, `declared` values of a constraint or
 * a source, `aggregate` counts, sums and averages, `group` names of the groups of aggregates,
 * `metric` the number of a metric, `match` values that a search found, `row` cells of query
 * results, `error` errors and warnings of the warehouse, which may quote a value.
 */
export const sentValuesSchema = z.object({
  connection: z.string(),
  /** The table or dataset; several for the result of a join. */
  source: z.string(),
  column: z.string(),
  kind: z.enum(valueKinds),
  count: z.int().min(0),
});
export type SentValues = Readonly<z.infer<typeof sentValuesSchema>>;

/** For text that carries no values of a warehouse. Said, so that nobody forgets to think of it. */
export const noValues: readonly SentValues[] = [];
