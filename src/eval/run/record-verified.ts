import { z } from 'zod';
import { parseJson } from '../../lib/json.ts';
import type { Project } from '../../project/open/open.ts';
import { planQuery } from '../../project/answer/query.ts';
import { givenParts, resolveQueryCall } from '../../project/saved/saved-request.ts';
import { removeVerified } from '../../project/verified/verified-file.ts';
import { verifyQuestion } from '../../project/verified/verify-question.ts';
import { querySchema } from '../../semantic/query/query.ts';
import type { EvalCase } from '../cases/question-set.ts';
import type { CaseResult, GradedTurn } from './run-schema.ts';

/** Without what says how much of the answer the agent wanted. */
const requestSchema = querySchema
  .extend({ saved: z.string().optional(), connection: z.string().optional() })
  .strip();

/**
 * Keeps a case that passed as a verified question, and forgets one that did not. An error or a
 * skipped case says nothing. A question of a conversation is never verified: alone it asks
 * something else.
 */
export async function recordVerified(
  project: Project,
  { evalCase, result, run }: { evalCase: EvalCase; result: CaseResult; run: string },
  signal: AbortSignal,
): Promise<void> {
  const { id, outcome, attempts } = result;
  if (outcome === 'error' || outcome === 'skipped') return;
  const [asked, ...others] = evalCase.turns;
  const turn = attempts.at(-1)?.turns[0];
  const golden = asked?.expect?.result?.golden_sql;
  const isAlone = asked !== undefined && others.length === 0;
  if (outcome !== 'pass' || !isAlone || turn === undefined || golden === undefined)
    return removeVerified(project.dir, id);
  const connection = project.connection(evalCase.connection).name;
  const found = await answerOf(project, turn, { connection, golden });
  const { question, evidence = '' } = asked;
  const words = evidence === '' ? question : question.slice(0, -evidence.length).trim();
  const passed = { id, file: evalCase.file, question: words, connection, run, ...found };
  await verifyQuestion(project, passed, signal);
}

/** The query of the semantic layer that had the golden rows; otherwise the golden SQL. */
async function answerOf(
  project: Project,
  { findings, queries }: GradedTurn,
  { connection, golden }: { connection: string; golden: string },
) {
  const matched = findings.find(({ query }) => query !== undefined)?.query;
  const { request = '', sql } = queries.find(({ id }) => id === matched) ?? {};
  const statements = sql === undefined ? [golden] : [golden, sql];
  const bySql = { answer: { kind: 'sql' as const, sql: golden }, statements, files: [] };
  const { data } = requestSchema.safeParse(parseJson(request));
  if (data === undefined) return bySql;
  const { saved, connection: named = connection, ...query } = data;
  const asked = await resolveQueryCall(project, {
    connection: named,
    saved,
    query: givenParts(query),
  });
  if (asked.kind !== 'query') return bySql;
  const { receipt, connection: planned } = await planQuery(project, asked.request);
  if (planned !== connection) return bySql;
  const files = [...receipt.files, ...(receipt.saved === undefined ? [] : [receipt.saved.file])];
  return { answer: { kind: 'query' as const, query: asked.request.query }, statements, files };
}
