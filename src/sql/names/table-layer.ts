/** Prefixes of tables that hold the same things at different steps of a transformation. */
const stepPrefix = /^(raw|src|source|stg|staging|base|int|intermediate|prep|snap|snapshot)_+/i;
/** Prefixes of what people ask. */
const martPrefix = /^(dim|fct|fact|mart|rpt|agg)_+/i;

/** The step that a name tells, like `stg`; empty for tables that people ask. */
export function stepOf(table: string): string {
  return stepPrefix.exec(table)?.[1]?.toLowerCase() ?? '';
}

/**
 * The step that the name of a table or else of its schemas tells, `mart` for names like
 * `dim_customers`, or empty.
 */
export function stepOfTable([table = '', ...schemas]: readonly string[]): string {
  const steps = [table, ...schemas.map((schema) => `${schema}_`)].map(stepOf);
  return steps.find((step) => step !== '') ?? (isMartName(table) ? 'mart' : '');
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

/**
 * What a table holds, in the singular, whatever its step: `customer` for `raw_customers`,
 * `stg_shop__customers` and `dim_customer`.
 */
export function thingOf(table: string): string {
  return withoutStep(table)
    .split(/[^\p{L}\d]+/u)
    .map((word) => word.replace(/(?<=.{2})ies$/, 'y').replace(/(?<=.{2}[^su])s$/, ''))
    .join(' ');
}
