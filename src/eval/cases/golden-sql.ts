import { UserError } from '../../lib/error.ts';
import type { Project } from '../../project/open/open.ts';
import { runStatement } from '../../project/answer/statement.ts';
import type { QueryResult } from '../../warehouse/warehouse.ts';
import type { EvalCase, QuestionSet } from './question-set.ts';

/** More than any agent may fetch: where this is not enough, nothing can be said. */
const mostRows = 100_000;

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
  /** What makes the case weak though it works. */
  readonly warning: string | undefined;
}

/** The rows that are right, as the project's own role may read them. */
export function goldenRows(
  project: Project,
  { connection, sql }: Golden,
  signal: AbortSignal,
): Promise<QueryResult> {
  return runStatement(
    project,
    { connection: project.connection(connection).name, sql, maxRows: mostRows },
    signal,
  );
}

interface Golden {
  readonly connection: string | undefined;
  readonly sql: string;
}

/** Runs the golden SQL of every case, without any model. */
export async function checkGolden(
  project: Project,
  sets: readonly QuestionSet[],
  options: CheckOptions,
): Promise<readonly GoldenCheck[]> {
  const checks: GoldenCheck[] = [];
  for (const { one, turn, sql } of sets.flatMap(({ cases }) => cases.flatMap(goldenOf))) {
    options.signal.throwIfAborted();
    options.onCase?.(one.id);
    checks.push(
      await check(project, { id: one.id, turn, sql, connection: one.connection }, options.signal),
    );
  }
  return checks;
}

interface CheckOptions {
  readonly signal: AbortSignal;
  readonly onCase?: (id: string) => void;
}

function goldenOf(
  one: EvalCase,
): readonly { readonly one: EvalCase; readonly turn: number; readonly sql: string }[] {
  return one.turns.flatMap(({ expect }, index) => {
    const sql = expect?.result?.golden_sql;
    return sql === undefined ? [] : [{ one, turn: index + 1, sql }];
  });
}

async function check(
  project: Project,
  golden: Golden & { id: string; turn: number },
  signal: AbortSignal,
): Promise<GoldenCheck> {
  const about = { id: golden.id, turn: golden.turn, sql: golden.sql };
  try {
    const { result, warning } = await tryGolden(project, golden, signal);
    const { rows, columns, truncated, ms } = result;
    return {
      ...about,
      rows: rows.length,
      columns: columns.map(({ name }) => name),
      truncated,
      ms,
      failure: undefined,
      warning,
    };
  } catch (failure) {
    if (!(failure instanceof UserError) || signal.aborted) throw failure;
    return { ...about, rows: 0, columns: [], truncated: false, ms: 0, failure, warning: undefined };
  }
}

/** Its rows, and what makes it a weak answer though it runs. */
async function tryGolden(project: Project, golden: Golden, signal: AbortSignal) {
  const result = await goldenRows(project, golden, signal);
  return { result, warning: weakness(result.rows, result.truncated) };
}

/** Why a statement is no golden SQL; undefined where it is. */
export async function goldenSqlProblem(
  project: Project,
  golden: Golden,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await tryGolden(project, golden, signal)).warning;
  } catch (failure) {
    if (!(failure instanceof UserError) || signal.aborted) throw failure;
    return failure.message;
  }
}

function weakness(rows: QueryResult['rows'], truncated: boolean): string | undefined {
  if (truncated) return `more than ${mostRows} rows: every answer would be inconclusive`;
  if (rows.length === 0) return 'no rows: any query that finds nothing would be right';
  if (rows.every((row) => row.every((cell) => cell === null))) return 'nothing but NULL';
  return undefined;
}
