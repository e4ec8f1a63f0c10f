/**
 * The aggregate functions of the semantic layer; `count_distinct` is `count(DISTINCT x)` in SQL.
 */
export const aggregateFunctions = [
  'sum',
  'count',
  'count_distinct',
  'avg',
  'min',
  'max',
  'median',
  'percentile',
  'percentile_disc',
] as const;
export type Aggregate = (typeof aggregateFunctions)[number];

/** True for the aggregates that need a fraction. */
export function isPercentile(name: Aggregate | undefined): boolean {
  return name === 'percentile' || name === 'percentile_disc';
}
