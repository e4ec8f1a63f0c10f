import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { QueryResult } from '../../warehouse/warehouse.ts';
import type { Expectation } from '../cases/question-set-schema.ts';
import { gradeRefusal, gradeText } from './grade-text.ts';
import { gradeTools } from './grade-tools.ts';
import type { GraderFinding } from '../run/outcome.ts';
import { rowDifference, nearestRow } from './row-difference.ts';

export interface TurnToGrade {
  readonly result: TurnResult;
  /** Of the whole conversation so far. */
  readonly evidence: readonly QueryEvidence[];
  /** What the golden SQL gives now. */
  readonly golden: (sql: string) => Promise<QueryResult>;
  /** Called only where everything else passed. */
  readonly judge: (
    rule: NonNullable<Expectation['judge']>,
    evidence: readonly QueryEvidence[],
  ) => Promise<GraderFinding>;
}

/** Grades one turn that came to its end: rows first, the judge last. */
export async function gradeTurn(
  expect: Expectation,
  graded: TurnToGrade,
): Promise<readonly GraderFinding[]> {
  const { result } = graded;
  const behind = evidenceBehind(graded);
  const findings: GraderFinding[] = [];
  if (expect.result !== undefined)
    findings.push(await gradeRows(expect.result, behind, graded.golden));
  if (expect.semantic_layer !== undefined)
    findings.push(gradeMetrics(expect.semantic_layer.metrics, behind));
  if (expect.tools !== undefined) findings.push(...gradeTools(result.toolCalls, expect.tools));
  if (expect.text !== undefined) findings.push(...gradeText(result.text, expect.text));
  if (expect.refuses === true) findings.push(gradeRefusal(result.text, citedIn(result.text)));
  if (expect.limits !== undefined) findings.push(...gradeLimits(expect.limits, result));
  const isGood = findings.every(({ outcome }) => outcome === 'pass');
  if (expect.judge !== undefined && isGood) findings.push(await graded.judge(expect.judge, behind));
  return findings;
}

/** What the answer stands on: the queries that it cites, be there none of that id; where it cites none, the last one of the turn. */
function evidenceBehind({
  result,
  evidence,
}: Pick<TurnToGrade, 'result' | 'evidence'>): readonly QueryEvidence[] {
  const ids = new Set(citedIn(result.text));
  return ids.size > 0 ? evidence.filter(({ id }) => ids.has(id)) : result.evidence.slice(-1);
}

function citedIn(text: string): readonly string[] {
  return [...text.matchAll(/\[(q\d+(?:\s*,\s*q\d+)*)\]/g)].flatMap(([, ids = '']) =>
    ids.split(/\s*,\s*/),
  );
}

type ResultRule = NonNullable<Expectation['result']>;

async function gradeRows(
  rule: ResultRule,
  behind: readonly QueryEvidence[],
  golden: TurnToGrade['golden'],
): Promise<GraderFinding> {
  const finding = (outcome: GraderFinding['outcome'], found: string): GraderFinding => ({
    grader: 'result',
    outcome,
    found,
  });
  const right = await goldenOr(rule.golden_sql, golden);
  if (right instanceof UserError) return finding('error', `the golden SQL fails: ${right.message}`);
  if (right.truncated) return finding('inconclusive', 'the golden rows are cut off');
  if (behind.length === 0) return finding('fail', 'no query stands behind the answer');
  const tried = behind.map((one) => ({
    one,
    difference: one.truncated ? undefined : rowDifference(one, right, rule.match),
  }));
  const same = tried.find(({ one, difference }) => !one.truncated && difference === undefined);
  if (same !== undefined) return finding('pass', `${same.one.id} has the golden rows`);
  const cut = tried.find(({ one }) => one.truncated);
  if (cut !== undefined)
    return finding('inconclusive', `${cut.one.id} is cut off at ${cut.one.rows.length} rows`);
  const [first] = behind;
  const found = tried.map(({ one, difference }) => `${one.id}: ${difference}`).join('; ');
  return { ...finding('fail', found), nearest: first && nearestRow(first, right, rule.match) };
}

async function goldenOr(
  sql: string,
  golden: TurnToGrade['golden'],
): Promise<QueryResult | UserError> {
  try {
    return await golden(sql);
  } catch (error) {
    if (error instanceof UserError && error.code !== 'cancelled') return error;
    throw error;
  }
}

const receiptSchema = z.looseObject({
  metrics: z.array(z.looseObject({ metric: z.string().optional() })),
});

/** Curated metrics that the query was answered with, by their address. */
export function curatedMetricsOf({ receipt }: Pick<QueryEvidence, 'receipt'>): readonly string[] {
  return receiptSchema.safeParse(receipt).data?.metrics.flatMap(({ metric }) => metric ?? []) ?? [];
}

function gradeMetrics(wanted: readonly string[], behind: readonly QueryEvidence[]): GraderFinding {
  const used = new Set(behind.flatMap(curatedMetricsOf));
  const missing = wanted.filter((metric) => !used.has(metric));
  const found =
    missing.length === 0
      ? `uses ${wanted.join(', ')}`
      : `does not use ${missing.join(', ')}; it uses ${[...used].join(', ') || 'no metric'}`;
  return { grader: 'semantic_layer', outcome: missing.length === 0 ? 'pass' : 'fail', found };
}

export function totalTokens({ usage }: Pick<TurnResult, 'usage'>): number {
  return Object.values(usage).reduce(
    (sum, { input, output, cacheRead, cacheWrite }) =>
      sum + input + output + cacheRead + cacheWrite,
    0,
  );
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function gradeLimits(
  limits: NonNullable<Expectation['limits']>,
  result: TurnResult,
): readonly GraderFinding[] {
  const { queries, cost_usd: cost, tokens, latency } = limits;
  const within = (
    what: string,
    value: number,
    limit: number | undefined,
  ): readonly GraderFinding[] =>
    limit === undefined
      ? []
      : [
          {
            grader: 'limits',
            outcome: value <= limit ? 'pass' : 'fail',
            found: `${what}: ${value} of ${limit}`,
          },
        ];
  const [, count, unit = 's'] = /^([\d.]+)\s*(\w+)$/.exec(latency ?? '') ?? [];
  const most = latency === undefined ? undefined : Number(count) * (unitMs[unit] ?? 1);
  const unknown = cost !== undefined && result.costUsd === null;
  return [
    ...within('queries', result.evidence.length, queries),
    ...(unknown
      ? [
          {
            grader: 'limits',
            outcome: 'inconclusive',
            found: `the cost is unknown: ${result.costReason ?? 'not told'}`,
          } as const,
        ]
      : within('US dollars', result.costUsd ?? 0, cost)),
    ...within('tokens', totalTokens(result), tokens),
    ...within('milliseconds', result.durationMs, most),
  ];
}
