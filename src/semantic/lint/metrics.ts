import type { SqlNode } from '../../sql/analyzer.ts';
import type { Fragment } from '../../sql/fragment.ts';
import { columnIdentity, type ModelMetric } from '../model/model.ts';
import type { SelectScope } from './scopes.ts';
import type { Trace } from './traces.ts';

/** An aggregate of a SELECT, and where its values come from. */
export interface TracedAggregate {
  readonly scope: SelectScope;
  readonly node: SqlNode;
  /** `count_distinct` for count(DISTINCT …). */
  readonly name: string;
  readonly trace: Trace | undefined;
}

/**
 * Visible metrics that are this aggregate of this column. Balances are left out, because they add
 * up only one value of each account.
 */
export function curatedMetrics(aggregate: string, origin: Trace['origin']): readonly ModelMetric[] {
  if (origin === undefined) return [];
  return [...origin.dataset.metrics.values()].filter(({ hidden, definition, balance }) => {
    if (hidden === true || balance !== undefined) return false;
    if (definition.kind !== 'aggregate' || definition.function !== aggregate) return false;
    const name = singleColumn(definition.of);
    return (
      name !== undefined && columnIdentity(origin.dataset, name).toLowerCase() === origin.column
    );
  });
}

/** The name, if the SQL is nothing but one column. */
function singleColumn(fragment: Fragment | undefined): string | undefined {
  const [reference, ...others] = fragment?.references ?? [];
  if (reference === undefined || others.length > 0) return undefined;
  const isWhole = reference.end - reference.start === fragment?.text.trim().length;
  return isWhole ? reference.parts.at(-1) : undefined;
}
