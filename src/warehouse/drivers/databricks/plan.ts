import type { QueryRows } from '../../driver.ts';
import { gateRefusal } from '../../warehouse-error.ts';

/** The operators of a plan that change something, as EXPLAIN writes them. */
const writing =
  /^[\s+\-:|*()\d]*(?:Execute(?! ?\w*(?:Describe|Show)\w*)|AppendData|Overwrite\w*|Insert\w*|WriteToDataSource\w*|Write\w*|Delete\w*|Update\w*|Merge\w*|Create\w*|Replace\w*|Drop\w*|Alter\w*|Truncate\w*|Add\w*Partition\w*|Set\w*|Cache\w*|Refresh\w*|Call\b|AtomicCreate\w*|AtomicReplace\w*|OptimizeTable\w*|Grant\w*|Revoke\w*|CommandResult)\b/im;

/** How EXPLAIN begins where there is no plan: it succeeds, and its rows are the error. */
const failed = /^Error occurred during query planning:\s*/;

/**
 * Reads the plan of a statement, which EXPLAIN makes without running it. Throws `gate_refused` if
 * the plan changes something, or is none, and the engine's error for a statement without a plan.
 */
export function requireReadingPlan({ rows }: QueryRows): void {
  const plan = rows.map(([line]) => String(line ?? '')).join('\n');
  if (failed.test(plan))
    throw Object.assign(new Error(plan.replace(failed, '')), { code: 'BAD_REQUEST' });
  if (!/^== Physical Plan ==/m.test(plan))
    throw gateRefusal('engine', 'Databricks makes no plan of the statement.');
  if (writing.test(plan.replace(/^== .* ==$/gm, '')))
    throw gateRefusal('engine', 'Databricks says that the statement would change something.');
}
