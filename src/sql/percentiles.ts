import { type Aggregate, isPercentile } from './aggregates.ts';
import type { Dialect } from './dialect.ts';

/** True for a median or percentile. */
export function takesFraction(name: Aggregate): boolean {
  return name === 'median' || isPercentile(name);
}

/** True for a median or percentile that the engine does not have: a query numbers the values. */
export function isRanked(
  { function: name }: { readonly function: Aggregate },
  dialect: Dialect,
): boolean {
  if (name === 'percentile_disc') return dialect.discretePercentile === undefined;
  return takesFraction(name) && dialect.percentile === undefined;
}

/** The SQL of a median or percentile that the engine has. */
export function percentileSql(
  argument: string,
  { name, fraction = 0.5 }: { readonly name: Aggregate; readonly fraction: number | undefined },
  dialect: Dialect,
): string {
  const sql =
    name === 'percentile_disc'
      ? dialect.discretePercentile?.(argument, fraction)
      : dialect.percentile?.(argument, fraction);
  if (sql === undefined) throw new Error(`${dialect.name} has no ${name}: the plan must rank.`);
  return sql;
}
