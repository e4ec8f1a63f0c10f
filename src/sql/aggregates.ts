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
] as const;
export type Aggregate = (typeof aggregateFunctions)[number];
