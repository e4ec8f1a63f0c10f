import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { splitSqlParts } from '../../sql/sql-parts.ts';
import type { QueryResult } from '../../warehouse/warehouse.ts';
import type { Expectation } from '../cases/question-set-schema.ts';
import type { GraderFinding } from '../run/outcome.ts';
import { citedIds } from './cited-ids.ts';
import { gradeGrounding, isGroundingGraded } from './grade-grounding.ts';
import { gradeLimits } from './grade-limits.ts';
import { gradeRefusal } from './grade-refusal.ts';
import { gradeText } from './grade-text.ts';
import { gradeTools } from './grade-tools.ts';
import { nearestRow, rowDifference } from './rows/row-difference.ts';

export interface TurnToGrade {
  /** What the person has said in the conversation so far. */
  readonly question: string;
  readonly result: TurnResult;
  /** All queries of the conversation so far. */
  readonly evidence: readonly QueryEvidence[];
  /** Runs golden SQL. */
  readonly golden: (sql: string) => Promise<QueryResult>;
  /** Called only if everything else passed. */
  readonly judge: (
    rule: NonNullable<Expectation['judge']>,
    evidence: readonly QueryEvidence[],
  ) => Promise<GraderFinding>;
}

/** Grades a finished turn by every rule of its expectation: rows first, the judge last. */
export async function gradeTurn(
  expect: Expectation,
  turn: TurnToGrade,
): Promise<readonly GraderFinding[]> {
  const { result } = turn;
  const used = findUsedEvidence(turn);
  const findings: GraderFinding[] = [];
  if (expect.result !== undefined) findings.push(await gradeRows(expect.result, used, turn.golden));
  if (expect.semantic_layer !== undefined)
    findings.push(gradeMetrics(expect.semantic_layer.metrics, used));
  if (expect.tools !== undefined) findings.push(...gradeTools(result.toolCalls, expect.tools));
  if (expect.text !== undefined) findings.push(...gradeText(result.text, expect.text));
  if (expect.refuses === true)
    findings.push(gradeRefusal(result.text, turn.question, result.toolCalls));
  if (isGroundingGraded(expect))
    findings.push(gradeGrounding({ ...turn, ...result, evidence: turn.evidence }));
  if (expect.limits !== undefined) findings.push(...gradeLimits(expect.limits, result));
  const isPassed = findings.every(({ outcome }) => outcome === 'pass' || outcome === 'weak');
  if (expect.judge !== undefined && isPassed) findings.push(await turn.judge(expect.judge, used));
  return findings;
}

/**
 * The queries that the answer is based on: those that it cites, even if none has such an id.
 * Without a citation: the last of the turn.
 */
function findUsedEvidence({
  result,
  evidence,
}: Pick<TurnToGrade, 'result' | 'evidence'>): readonly QueryEvidence[] {
  const ids = new Set(citedIds(result.text));
  return ids.size > 0 ? evidence.filter(({ id }) => ids.has(id)) : result.evidence.slice(-1);
}

/** Passes if one of the queries returned the golden rows. */
async function gradeRows(
  { golden_sql: sql, match }: NonNullable<Expectation['result']>,
  used: readonly QueryEvidence[],
  golden: TurnToGrade['golden'],
): Promise<GraderFinding> {
  const expected = await resultOrError(() => golden(sql));
  if (expected instanceof UserError)
    return rowsFinding('error', `the golden SQL fails: ${expected.message}`);
  if (expected.truncated) return rowsFinding('inconclusive', 'the golden result is cut off');
  if (used.length === 0) return rowsFinding('fail', 'the answer is based on no query');
  const compared = used.map((query) => ({
    query,
    difference: query.truncated ? undefined : rowDifference(query, expected, match),
  }));
  const [equal] = compared
    .filter(({ query, difference }) => !query.truncated && difference === undefined)
    .toSorted((a, b) => Number(readsTable(b.query.sql)) - Number(readsTable(a.query.sql)));
  if (equal !== undefined) {
    if (readsTable(sql) && !readsTable(equal.query.sql))
      return rowsFinding('fail', `${equal.query.id} reads no table: the agent wrote its rows`);
    const showsLittle = expected.rows.every((row) => row.every((cell) => cell === null));
    const what = expected.rows.length === 0 ? 'both are empty' : 'both are nothing but NULL';
    return showsLittle
      ? rowsFinding('weak', `${equal.query.id} has the golden rows, but ${what}: that shows little`)
      : { ...rowsFinding('pass', `${equal.query.id} has the golden rows`), query: equal.query.id };
  }
  const truncated = used.find((query) => query.truncated);
  if (truncated !== undefined)
    return rowsFinding(
      'inconclusive',
      `${truncated.id} is cut off after ${truncated.rows.length} rows`,
    );
  const differences = compared.map(({ query, difference }) => `${query.id}: ${difference}`);
  const [first] = used;
  return {
    ...rowsFinding('fail', differences.join('; ')),
    nearest: first && nearestRow(first, expected, match),
  };
}

/** Whether a statement reads rows of a table. `SELECT 4610` gives what the agent thinks. */
function readsTable(sql = 'FROM unknown'): boolean {
  const parts = [...splitSqlParts(sql, { hasDollarQuotes: true })];
  const code = parts.map(({ kind, text }) => ({ code: text, quoted: ' x ', comment: ' ' })[kind]);
  return /\bfrom\s+(?!\(|values\b|unnest\b|generate_series\b)|^\s*(?:show|describe|pragma)\b/i.test(
    code.join(''),
  );
}

function rowsFinding(outcome: GraderFinding['outcome'], found: string): GraderFinding {
  return { grader: 'result', outcome, found };
}

async function resultOrError(run: () => Promise<QueryResult>): Promise<QueryResult | UserError> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UserError && error.code !== 'cancelled') return error;
    throw error;
  }
}

const receiptSchema = z.looseObject({
  metrics: z.array(z.looseObject({ metric: z.string().optional() })),
});

/** Addresses of the curated metrics that a query used, as `dataset.metric`. */
export function curatedMetricsOf({ receipt }: Pick<QueryEvidence, 'receipt'>): readonly string[] {
  return receiptSchema.safeParse(receipt).data?.metrics.flatMap(({ metric }) => metric ?? []) ?? [];
}

function gradeMetrics(required: readonly string[], used: readonly QueryEvidence[]): GraderFinding {
  const usedMetrics = new Set(used.flatMap(curatedMetricsOf));
  const missing = required.filter((metric) => !usedMetrics.has(metric));
  const isPassed = missing.length === 0;
  return {
    grader: 'semantic_layer',
    outcome: isPassed ? 'pass' : 'fail',
    found: isPassed
      ? `uses ${required.join(', ')}`
      : `does not use ${missing.join(', ')}; it uses ${[...usedMetrics].join(', ') || 'no metric'}`,
  };
}
