import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import { readPrompt } from '../../llm/prompt.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { Expectation } from '../cases/question-set-schema.ts';
import type { GraderFinding } from '../run/outcome.ts';

type JudgeRule = NonNullable<Expectation['judge']>;

interface Judged {
  readonly question: string;
  readonly answer: string;
  readonly evidence: readonly QueryEvidence[];
  readonly signal: AbortSignal;
}

const verdictSchema = z.object({ score: z.number().min(0).max(1), reason: z.string() });
const rowsShown = 30;

/** The mean of the samples against the threshold. A judge that fails is an error of the measurement, never a score. */
export async function askJudge(
  runtime: LlmRuntime,
  rule: JudgeRule,
  judged: Judged,
): Promise<GraderFinding> {
  const { question, answer, evidence, signal } = judged;
  const queries = evidence.map(({ id, sql, columns, rows, truncated }) => {
    return {
      id,
      sql,
      columns: columns.map(({ name }) => name),
      rows: rows.slice(0, rowsShown),
      more: truncated || rows.length > rowsShown,
    };
  });
  const prompt = untrustedBlock(
    'answer to score',
    JSON.stringify({ question, answer, queries, criteria: rule.criteria }),
  );
  try {
    const system = readPrompt('judge-answer');
    const ask = () =>
      runtime.generateObject({
        role: 'default',
        system,
        prompt: `Score this.\n\n${prompt}`,
        schema: verdictSchema,
        signal,
      });
    const verdicts = await Promise.all(Array.from({ length: rule.samples }, ask));
    const score = verdicts.reduce((sum, verdict) => sum + verdict.score, 0) / verdicts.length;
    const found = `${score.toFixed(2)} of ${rule.threshold} wanted: ${verdicts[0]?.reason ?? ''}`;
    return { grader: 'judge', outcome: score >= rule.threshold ? 'pass' : 'fail', found };
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    return { grader: 'judge', outcome: 'error', found: `the judge failed: ${error.message}` };
  }
}
