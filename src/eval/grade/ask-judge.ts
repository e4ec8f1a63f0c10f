import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { readPrompt } from '../../llm/prompt.ts';
import type { Expectation } from '../cases/question-set-schema.ts';
import type { GraderFinding } from '../run/outcome.ts';

type JudgeRule = NonNullable<Expectation['judge']>;

interface AnswerToJudge {
  readonly question: string;
  readonly answer: string;
  /** The queries that the answer is based on. */
  readonly evidence: readonly QueryEvidence[];
  readonly signal: AbortSignal;
}

const verdictSchema = z.object({ score: z.number().min(0).max(1), reason: z.string() });
const maxRowsInPrompt = 30;

/** Compares the mean score of the samples with the threshold. If the judge fails, the outcome is `error`, never a score. */
export async function askJudge(
  runtime: LlmRuntime,
  rule: JudgeRule,
  answer: AnswerToJudge,
): Promise<GraderFinding> {
  const { signal } = answer;
  const request = {
    role: 'default',
    system: readPrompt('judge-answer'),
    prompt: judgePrompt(rule, answer),
    schema: verdictSchema,
    signal,
  } as const;
  try {
    const samples = Array.from({ length: rule.samples }, () => runtime.generateObject(request));
    const verdicts = await Promise.all(samples);
    const score = verdicts.reduce((sum, verdict) => sum + verdict.score, 0) / verdicts.length;
    const reason = verdicts[0]?.reason ?? '';
    return {
      grader: 'judge',
      outcome: score >= rule.threshold ? 'pass' : 'fail',
      found: `score ${score.toFixed(2)}, threshold ${rule.threshold}: ${reason}`,
    };
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    return { grader: 'judge', outcome: 'error', found: `the judge failed: ${error.message}` };
  }
}

function judgePrompt({ criteria }: JudgeRule, { question, answer, evidence }: AnswerToJudge) {
  const queries = evidence.map(({ id, sql, columns, rows, truncated }) => ({
    id,
    sql,
    columns: columns.map(({ name }) => name),
    rows: rows.slice(0, maxRowsInPrompt),
    more: truncated || rows.length > maxRowsInPrompt,
  }));
  const json = JSON.stringify({ question, answer, queries, criteria });
  return `Score this.\n\n${untrustedBlock('answer to score', json)}`;
}
