import { z } from 'zod';
import { gateRefusal } from '../../warehouse-error.ts';
import type { TrinoTransaction } from './connection.ts';
import { explainedQuery } from './policy.ts';

/** NaN where the server does not know. */
const amountSchema = z.union([z.number(), z.string()]).transform(Number);
/** What `EXPLAIN (TYPE IO, FORMAT JSON)` says of a statement. */
const planSchema = z.looseObject({
  inputTableColumnInfos: z.array(
    z.looseObject({
      estimate: z
        .looseObject({ outputRowCount: amountSchema, outputSizeInBytes: amountSchema })
        .optional(),
    }),
  ),
  outputTable: z.unknown().optional(),
});

/** What the tables of a statement would give; undefined where the server does not know. */
export interface PlanAmounts {
  readonly rows: number | undefined;
  readonly bytes: number | undefined;
}

/**
 * Asks the server what a statement would read and write, which runs nothing. Throws the server's
 * error for a statement that it would refuse, and `gate_refused` for one that is not a query.
 */
export async function readPlan(sql: string, transaction: TrinoTransaction): Promise<PlanAmounts> {
  const { rows } = await transaction.query(
    `EXPLAIN (TYPE IO, FORMAT JSON) ${explainedQuery(sql)}`,
    1,
  );
  const plan = planSchema.safeParse(jsonOf(rows[0]?.[0]));
  if (!plan.success) throw gateRefusal('engine', 'the server says that the statement is no query.');
  if (plan.data.outputTable !== undefined && plan.data.outputTable !== null)
    throw gateRefusal('engine', 'the server says that the statement would write.');
  const estimates = plan.data.inputTableColumnInfos.map(({ estimate }) => estimate);
  return {
    rows: total(estimates.map((estimate) => estimate?.outputRowCount)),
    bytes: total(estimates.map((estimate) => estimate?.outputSizeInBytes)),
  };
}

function total(amounts: readonly (number | undefined)[]): number | undefined {
  const sum = amounts.reduce<number>((soFar, amount = NaN) => soFar + amount, 0);
  return Number.isFinite(sum) ? sum : undefined;
}

function jsonOf(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
