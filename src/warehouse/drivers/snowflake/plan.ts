import { z } from 'zod';
import { parseJson } from '../../../lib/json.ts';
import { gateRefusal, warehouseError } from '../../warehouse-error.ts';

/** What `EXPLAIN USING JSON` answers. */
const planSchema = z.looseObject({
  GlobalStats: z.looseObject({ bytesAssigned: z.number().optional() }).optional(),
  Operations: z.array(z.array(z.looseObject({ operation: z.string() }))),
});

export interface StatementPlan {
  /** Of the parts of tables that may be read; undefined if the plan does not say. */
  readonly bytes: number | undefined;
}

/** Operations of a plan that read rows or compute with them. */
const reading =
  /^(?:Result|\w*Scan|\w*Join|JoinFilter|Filter|Aggregate|GroupingSets|Sort|SortWithLimit|Limit|TopK|WindowFunction|Union|UnionAll|Intersect|Except|Minus|ValuesClause|Values|Generator|Flatten|LateralFlatten|Projection|With\w*|Pivot|Unpivot|Sample\w*|Distinct|MatchRecognize|RecursiveUnion|RowFilter|InternalObject|FastAggregate|LocalAggregate|GlobalAggregate|MetadataBasedResult|ResultWorker)$/;

/**
 * Reads the plan of a statement. Throws `gate_refused` if an operation of it is not known to only
 * read.
 */
export function readPlan(text: unknown): StatementPlan {
  const plan = planSchema.safeParse(typeof text === 'string' ? parseJson(text) : undefined).data;
  if (plan === undefined)
    throw warehouseError('query_failed', 'Snowflake did not show the plan of the statement.');
  const operations = plan.Operations.flat().map(({ operation }) => operation);
  const other = operations.find((operation) => !reading.test(operation));
  if (other !== undefined)
    throw gateRefusal('engine', `the plan of Snowflake has the operation ${other}.`);
  return { bytes: plan.GlobalStats?.bytesAssigned };
}
