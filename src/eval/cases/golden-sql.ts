import { UserError } from '../../lib/error.ts';
import { runStatement } from '../../project/answer/statement.ts';
import type { Project } from '../../project/open/open.ts';
import type { QueryResult } from '../../warehouse/warehouse.ts';
import type { EvalCase, QuestionSet } from './question-set.ts';

/** More than an agent may fetch. A golden result with more rows makes every answer inconclusive. */
const maxGoldenRows = 100_000;

export interface GoldenCheck {
  readonly id: string;
  /** From 1. */
  readonly turn: number;
  readonly sql: string;
  readonly rows: number;
  readonly columns: readonly string[];
  readonly truncated: boolean;
  readonly ms: number;
  readonly failure: UserError | undefined;
  /** Why the result proves little although the SQL runs. */
  readonly warning: string | undefined;
}

interface GoldenStatement {
  readonly connection: string | undefined;
  readonly sql: string;
}

/** Runs golden SQL through the gate, with the project's own login. */
export function goldenRows(
  project: Project,
  { connection, sql }: GoldenStatement,
  signal: AbortSignal,
): Promise<QueryResult> {
  return runStatement(
    project,
    { connection: project.connection(connection).name, sql, maxRows: maxGoldenRows },
    signal,
  );
}

interface CheckOptions {
  readonly signal: AbortSignal;
  readonly onCase?: (id: string) => void;
}

/** Runs the golden SQL of every case; asks no model. */
export async function checkGolden(
  project: Project,
  sets: readonly QuestionSet[],
  { signal, onCase }: CheckOptions,
): Promise<readonly GoldenCheck[]> {
  const checks: GoldenCheck[] = [];
  const statements = sets.flatMap(({ cases }) => cases.flatMap(statementsOfCase));
  for (const statement of statements) {
    signal.throwIfAborted();
    onCase?.(statement.id);
    checks.push(await checkStatement(project, statement, signal));
  }
  return checks;
}

interface CaseStatement extends GoldenStatement {
  readonly id: string;
  readonly turn: number;
}

function statementsOfCase({ id, connection, turns }: EvalCase): readonly CaseStatement[] {
  return turns.flatMap(({ expect }, index) => {
    const sql = expect?.result?.golden_sql;
    return sql === undefined ? [] : [{ id, turn: index + 1, sql, connection }];
  });
}

async function checkStatement(
  project: Project,
  statement: CaseStatement,
  signal: AbortSignal,
): Promise<GoldenCheck> {
  const { id, turn, sql } = statement;
  try {
    const result = await goldenRows(project, statement, signal);
    const { rows, columns, truncated, ms } = result;
    return {
      id,
      turn,
      sql,
      rows: rows.length,
      columns: columns.map(({ name }) => name),
      truncated,
      ms,
      failure: undefined,
      warning: weaknessOf(result),
    };
  } catch (failure) {
    if (!(failure instanceof UserError) || signal.aborted) throw failure;
    return {
      id,
      turn,
      sql,
      rows: 0,
      columns: [],
      truncated: false,
      ms: 0,
      failure,
      warning: undefined,
    };
  }
}

/**
 * Why a statement is unfit as golden SQL: its error, or that its result proves little. Undefined if
 * it is fit.
 */
export async function goldenSqlProblem(
  project: Project,
  statement: GoldenStatement,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return weaknessOf(await goldenRows(project, statement, signal));
  } catch (failure) {
    if (!(failure instanceof UserError) || signal.aborted) throw failure;
    return failure.message;
  }
}

function weaknessOf({ rows, truncated }: QueryResult): string | undefined {
  if (truncated) return `more than ${maxGoldenRows} rows: every answer would be inconclusive`;
  if (rows.length === 0) return 'no rows: any query that returns nothing would pass';
  if (rows.every((row) => row.every((cell) => cell === null))) return 'nothing but NULL';
  return undefined;
}
