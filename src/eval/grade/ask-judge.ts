import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { SentValues } from '../../llm/egress/sent-values.ts';
import type { DeclaringRuntime } from '../../llm/port/runtime.ts';
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
  /** False if rows stay on this machine (`llm.send_rows: off`). */
  readonly sendsRows: boolean;
  readonly signal: AbortSignal;
}

const verdictSchema = z.object({ score: z.number().min(0).max(1), reason: z.string() });
const maxRowsInPrompt = 30;

/**
 * Compares the mean score of the samples with the threshold. If the judge fails, the outcome is
 * `error`, never a score.
 */
export async function askJudge(
  runtime: DeclaringRuntime,
  rule: JudgeRule,
  answer: AnswerToJudge,
): Promise<GraderFinding> {
  const { signal } = answer;
  const queries = answer.evidence.map((query) => judgedQuery(query, answer.sendsRows));
  const request = {
    role: 'default',
    stage: 'judge',
    values: rowsIn(queries),
    system: readPrompt('judge-answer'),
    prompt: judgePrompt(rule, answer, queries),
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

type JudgedQuery = ReturnType<typeof judgedQuery>;

/** What the judge sees of a query: its first rows, or none if rows stay on this machine. */
function judgedQuery(
  { id, connection = '', sql, columns, rows, truncated }: QueryEvidence,
  sendsRows: boolean,
) {
  const shown = sendsRows ? rows.slice(0, maxRowsInPrompt) : [];
  const names = columns.map(({ name }) => name);
  const more = truncated || rows.length > shown.length;
  return { id, connection, sql, columns: names, rows: shown, more };
}

function rowsIn(queries: readonly JudgedQuery[]): SentValues[] {
  return queries.flatMap(({ connection, columns, rows }) =>
    columns.flatMap((column): SentValues[] =>
      rows.length === 0
        ? []
        : [{ connection, source: '', column, kind: 'row', count: rows.length }],
    ),
  );
}

function judgePrompt(
  { criteria }: JudgeRule,
  { question, answer }: AnswerToJudge,
  queries: readonly JudgedQuery[],
) {
  const json = JSON.stringify({ question, answer, queries, criteria });
  return `Score this.\n\n${untrustedBlock('answer to score', json)}`;
}
