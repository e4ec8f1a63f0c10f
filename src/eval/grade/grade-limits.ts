import { durationMs } from '../../lib/time/duration.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import type { Expectation } from '../cases/question-set-schema.ts';
import type { GraderFinding } from '../run/outcome.ts';

/** Grades what a turn used: queries, money, tokens and time. An unknown cost is inconclusive. */
export function gradeLimits(
  limits: NonNullable<Expectation['limits']>,
  result: TurnResult,
): readonly GraderFinding[] {
  const { queries, cost_usd: maxCost, tokens, latency } = limits;
  const maxMs = latency === undefined ? undefined : durationMs(latency);
  const isCostUnknown = maxCost !== undefined && result.costUsd === null;
  return [
    ...gradeLimit('queries', result.evidence.length, queries),
    ...(isCostUnknown
      ? [unknownCostFinding(result)]
      : gradeLimit('US dollars', result.costUsd ?? 0, maxCost)),
    ...gradeLimit('tokens', totalTokens(result), tokens),
    ...gradeLimit('milliseconds', result.durationMs, maxMs),
  ];
}

function gradeLimit(
  unit: string,
  value: number,
  limit: number | undefined,
): readonly GraderFinding[] {
  if (limit === undefined) return [];
  const outcome = value <= limit ? 'pass' : 'fail';
  return [{ grader: 'limits', outcome, found: `${unit}: ${value} of ${limit}` }];
}

function unknownCostFinding({ costReason }: TurnResult): GraderFinding {
  return {
    grader: 'limits',
    outcome: 'inconclusive',
    found: `the cost is unknown: ${costReason ?? 'no reason given'}`,
  };
}

/** The tokens of all models: input, output, and both kinds of cached tokens. */
export function totalTokens({ usage }: Pick<TurnResult, 'usage'>): number {
  return Object.values(usage).reduce(
    (sum, { input, output, cacheRead, cacheWrite }) =>
      sum + input + output + cacheRead + cacheWrite,
    0,
  );
}
