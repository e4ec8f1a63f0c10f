import { z } from 'zod';
import type { Agent } from '../../chat/agent.ts';
import { openAgent } from '../../chat/open-agent.ts';
import type { PermissionPolicy } from '../../chat/permissions.ts';
import { UserError } from '../../lib/error.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import { readTurnResult, type TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { Project } from '../../project/open/open.ts';
import type { QueryResult } from '../../warehouse/warehouse.ts';
import { gradeTurn, curatedMetricsOf, totalTokens } from '../grade/grade-turn.ts';
import { askJudge } from '../grade/ask-judge.ts';
import { worstOutcome, type GraderFinding, type EvalOutcome } from './outcome.ts';
import type { EvalCase, EvalTurn } from '../cases/question-set.ts';
import type { CaseResult, GradedTurn } from './run-file.ts';

export interface CaseContext {
  readonly project: Project;
  readonly agent: Agent;
  readonly policy: PermissionPolicy;
  readonly judge: () => Promise<LlmRuntime>;
  readonly golden: (connection: string | undefined, sql: string) => Promise<QueryResult>;
  readonly signal: AbortSignal;
}

/** Asks a case as often as it wants to be, each time in a conversation that nothing else has seen. */
export async function runCase(asking: CaseContext, one: EvalCase): Promise<CaseResult> {
  if (one.skip !== undefined) return skipped(one, one.skip);
  const attempts: CaseResult['attempts'] = [];
  for (let n = 0; n < one.repeat && !asking.signal.aborted; n += 1)
    attempts.push(await attempt(asking, one));
  const seen = attempts.map(({ outcome }) => outcome);
  const flaky = seen.includes('pass') && seen.some((outcome) => outcome !== 'pass');
  return { id: one.id, tags: [...one.tags], outcome: worstOutcome(seen), flaky, attempts };
}

export function skipped({ id, tags }: EvalCase, reason: string): CaseResult {
  return { id, tags: [...tags], outcome: 'skipped', flaky: false, attempts: [], reason };
}

async function attempt(
  asking: CaseContext,
  one: EvalCase,
): Promise<CaseResult['attempts'][number]> {
  const { project, agent, policy, signal } = asking;
  const turns: GradedTurn[] = [];
  const evidence: QueryEvidence[] = [];
  const opened = await openAgent(project, { agent, policy, isKept: false, signal });
  try {
    for (const turn of one.turns) {
      const result = await readTurnResult(opened.send(turn.question, { signal }));
      evidence.push(...result.evidence);
      const findings = await findingsOf(asking, { one, turn, result, evidence });
      turns.push(recordOf(turn, result, findings));
      // What follows would be asked of a conversation that is not the one that was meant.
      if (isBroken(result)) break;
    }
  } finally {
    await opened.close();
  }
  return { outcome: worstOutcome(turns.map(({ outcome }) => outcome)), turns };
}

interface Ended {
  readonly one: EvalCase;
  readonly turn: EvalTurn;
  readonly result: TurnResult;
  readonly evidence: readonly QueryEvidence[];
}

function isBroken({ stopReason }: TurnResult): boolean {
  return stopReason === 'error' || stopReason === 'timeout' || stopReason === 'interrupted';
}

async function findingsOf(
  asking: CaseContext,
  { one, turn, result, evidence }: Ended,
): Promise<readonly GraderFinding[]> {
  const ending = endingOf(result);
  if (ending !== undefined) return [ending];
  if (turn.expect === undefined) return [];
  return gradeTurn(turn.expect, {
    result,
    evidence,
    golden: (sql) => asking.golden(one.connection, sql),
    judge: async (rule, behind) => {
      const judged = {
        question: turn.question,
        answer: result.text,
        evidence: behind,
        signal: asking.signal,
      };
      return askJudge(await asking.judge(), rule, judged);
    },
  });
}

const endings: Readonly<Partial<Record<TurnResult['stopReason'], EvalOutcome>>> = {
  error: 'error',
  timeout: 'timeout',
  interrupted: 'skipped',
  max_turns: 'fail',
  budget: 'fail',
};

/** A turn that was not brought to its end has no answer to grade. */
function endingOf({ stopReason, error }: TurnResult): GraderFinding | undefined {
  const outcome = isOfRun(error) ? 'error' : endings[stopReason];
  const why =
    error instanceof UserError
      ? `${error.code}: ${error.message}`
      : `the turn ended with ${stopReason}`;
  return outcome && { grader: 'turn', outcome, found: why };
}

const limitSchema = z.object({ limit: z.literal('llm.max_usd_per_run') });

/** The money of the whole run is spent: that says nothing about the agent. */
function isOfRun(error: TurnResult['error']): boolean {
  return error instanceof UserError && limitSchema.safeParse(error.details).success;
}

function recordOf(
  { question, expect }: EvalTurn,
  result: TurnResult,
  findings: readonly GraderFinding[],
): GradedTurn {
  return {
    question,
    outcome: findings.length === 0 ? 'pass' : worstOutcome(findings.map(({ outcome }) => outcome)),
    answer: result.text,
    stop_reason: result.stopReason,
    findings: [...findings],
    queries: result.evidence.map((one) => {
      const { id, tool, sql, rows, truncated } = one;
      return { id, tool, sql, metrics: [...curatedMetricsOf(one)], rows: rows.length, truncated };
    }),
    tools: result.toolCalls.map(({ name, ok }) => ({ name, ok })),
    golden_sql: expect?.result?.golden_sql,
    tokens: totalTokens(result),
    cost_usd: result.costUsd,
    ms: Math.round(result.durationMs),
  };
}
