import { z } from 'zod';
import type { Agent } from '../../project/agents/agent.ts';
import { openAgent } from '../../chat/open-agent.ts';
import type { PermissionPolicy } from '../../chat/tools/permissions.ts';
import { UserError } from '../../lib/error.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import { readTurnResult, type TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { Project } from '../../project/open/open.ts';
import type { QueryResult } from '../../warehouse/warehouse.ts';
import type { EvalCase, EvalTurn } from '../cases/question-set.ts';
import { askJudge } from '../grade/ask-judge.ts';
import { totalTokens } from '../grade/grade-limits.ts';
import { curatedMetricsOf, gradeTurn } from '../grade/grade-turn.ts';
import { worstOutcome, type EvalOutcome, type GraderFinding } from './outcome.ts';
import type { CaseResult, GradedTurn } from './run-schema.ts';

export interface CaseContext {
  readonly project: Project;
  readonly agent: Agent;
  readonly policy: PermissionPolicy;
  /** Opens the model that judges; throws if none is configured. */
  readonly judge: () => Promise<LlmRuntime>;
  /** Runs golden SQL. */
  readonly golden: (connection: string | undefined, sql: string) => Promise<QueryResult>;
  readonly signal: AbortSignal;
  /** The attempts of an earlier run that this one continues. */
  readonly done: CaseResult['attempts'];
  /** Called as each attempt ends. */
  readonly onAttempt: (attempt: CaseResult['attempts'][number]) => void;
}

/**
 * Asks a case as often as its `repeat` says, each time in a new conversation, and grades the
 * answers.
 */
export async function runCase(context: CaseContext, evalCase: EvalCase): Promise<CaseResult> {
  const { id, tags, repeat, skip } = evalCase;
  if (skip !== undefined) return skippedCase(evalCase, skip);
  const attempts: CaseResult['attempts'] = context.done.slice(0, repeat);
  while (attempts.length < repeat && !context.signal.aborted) {
    const attempt = await runAttempt(context, evalCase);
    context.onAttempt(attempt);
    attempts.push(attempt);
  }
  const outcomes = attempts.map(({ outcome }) => outcome);
  const flaky = outcomes.includes('pass') && outcomes.some((outcome) => outcome !== 'pass');
  return { id, tags: [...tags], outcome: worstOutcome(outcomes), flaky, attempts };
}

export function skippedCase({ id, tags }: EvalCase, reason: string): CaseResult {
  return { id, tags: [...tags], outcome: 'skipped', flaky: false, attempts: [], reason };
}

async function runAttempt(
  context: CaseContext,
  { turns, connection }: EvalCase,
): Promise<CaseResult['attempts'][number]> {
  const { project, agent, policy, signal } = context;
  const graded: GradedTurn[] = [];
  const evidence: QueryEvidence[] = [];
  const asked: string[] = [];
  const conversation = await openAgent(project, { agent, policy, isKept: false, signal });
  try {
    for (const turn of turns) {
      const result = await readTurnResult(conversation.send(turn.question, { signal }));
      evidence.push(...result.evidence);
      asked.push(turn.question);
      const question = asked.join('\n');
      const findings = await gradeAnswer(context, { turn, question, result, evidence, connection });
      graded.push(toGradedTurn(turn, result, findings));
      // Without this answer, later turns would belong to another conversation than the one in the
      // file.
      if (isBrokenOff(result)) break;
    }
  } finally {
    await conversation.close();
  }
  return { outcome: worstOutcome(graded.map(({ outcome }) => outcome)), turns: graded };
}

function isBrokenOff({ stopReason }: TurnResult): boolean {
  return stopReason === 'error' || stopReason === 'timeout' || stopReason === 'interrupted';
}

interface FinishedTurn {
  readonly turn: EvalTurn;
  /** What was asked in the conversation so far. */
  readonly question: string;
  readonly result: TurnResult;
  /** Of the whole conversation so far. */
  readonly evidence: readonly QueryEvidence[];
  /** Where golden SQL runs. */
  readonly connection: string | undefined;
}

async function gradeAnswer(
  context: CaseContext,
  { turn, question, result, evidence, connection }: FinishedTurn,
): Promise<readonly GraderFinding[]> {
  const unfinished = unfinishedTurnFinding(result);
  if (unfinished !== undefined) return [unfinished];
  if (turn.expect === undefined) return [];
  return gradeTurn(turn.expect, {
    question,
    result,
    evidence,
    golden: (sql) => context.golden(connection, sql),
    judge: async (rule, usedEvidence) =>
      askJudge(await context.judge(), rule, {
        question: turn.question,
        answer: result.text,
        evidence: usedEvidence,
        sendsRows: context.project.config.llm.send_rows === 'on',
        signal: context.signal,
      }),
  });
}

const unfinishedOutcomes: Readonly<Partial<Record<TurnResult['stopReason'], EvalOutcome>>> = {
  error: 'error',
  timeout: 'timeout',
  interrupted: 'skipped',
  max_turns: 'fail',
  budget: 'fail',
};

/** A turn that did not finish has no answer to grade; undefined if it finished. */
function unfinishedTurnFinding({ stopReason, error }: TurnResult): GraderFinding | undefined {
  const outcome = isRunBudgetSpent(error) ? 'error' : unfinishedOutcomes[stopReason];
  const found =
    error instanceof UserError
      ? `${error.code}: ${error.message}`
      : `the turn ended with ${stopReason}`;
  return outcome && { grader: 'turn', outcome, found };
}

const runBudgetSchema = z.object({ limit: z.enum(['llm.max_usd_per_run', '--budget']) });

/** The budget of the whole run is spent: that says nothing about the agent. */
function isRunBudgetSpent(error: TurnResult['error']): boolean {
  return error instanceof UserError && runBudgetSchema.safeParse(error.details).success;
}

function toGradedTurn(
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
    queries: result.evidence.map(
      ({ id, call, tool, connection, sql, receipt, rows, truncated }) => {
        const metrics = [...curatedMetricsOf({ receipt })];
        const made = result.toolCalls.find((each) => each.id === call);
        const request = receipt === undefined ? undefined : JSON.stringify(made?.input);
        return { id, tool, request, connection, sql, metrics, rows: rows.length, truncated };
      },
    ),
    tools: result.toolCalls.map(({ name, ok }) => ({ name, ok })),
    golden_sql: expect?.result?.golden_sql,
    tokens: totalTokens(result),
    cost_usd: result.costUsd,
    ms: Math.round(result.durationMs),
  };
}
