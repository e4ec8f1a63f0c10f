/** Prefixes of tables that hold the same things at different steps of a transformation. */
const stepPrefix = /^(raw|src|source|stg|staging|base|int|intermediate|prep|snap|snapshot)_+/i;
/** Prefixes of what people ask. */
const martPrefix = /^(dim|fct|fact|mart|rpt|agg)_+/i;

/** The step that a name tells, like `stg`; empty for tables that people ask. */
export function stepOf(table: string): string {
  return stepPrefix.exec(table)?.[1]?.toLowerCase() ?? '';
}

/** True for names like `fct_orders`. */
export function isMartName(table: string): boolean {
  return martPrefix.test(table);
}

/**
 * What the table holds, whatever its step: `stg_shop__customers` and `dim_customers` hold
 * customers.
 */
export function withoutStep(table: string): string {
  const step = stepPrefix.exec(table);
  if (step === null) return table.replace(martPrefix, '').toLowerCase();
  // dbt projects name a staging model after its source and its table.
  return table.slice(step[0].length).replace(/^.*__/, '').toLowerCase();
}
