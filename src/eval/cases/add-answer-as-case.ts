import { join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { readText, writeAtomically } from '../../store/files.ts';
import { editQuestionSet } from './edit-question-set.ts';
import { mostTurns } from './question-set-schema.ts';

interface TurnOfConversation {
  readonly message: string;
  readonly evidence: readonly QueryEvidence[];
}

interface AnswerOfConversation {
  /** The conversation up to the answer, which is the last one. */
  readonly turns: readonly TurnOfConversation[];
  readonly agent: string | undefined;
  /** Where golden SQL runs that says nothing else. */
  readonly connection: string | undefined;
  /** Who says that the answer is right; undefined if nobody does. */
  readonly confirmedBy?: string | undefined;
}

interface AddedCase {
  readonly file: string;
  readonly id: string;
  readonly question: string;
  readonly expect: object;
}

/**
 * Adds an answer to `evals/<set>.yaml`: the question, with those before it, and the result of the
 * last query. Unless a person says that it is right, the case is a draft.
 */
export async function addAnswerAsCase(
  projectDir: string,
  set: string,
  { turns, agent, connection, confirmedBy }: AnswerOfConversation,
): Promise<AddedCase> {
  if (!/^[a-z0-9][a-z0-9_-]*$/.test(set))
    throw new UserError('usage', 'The name of a question set may contain a-z, 0-9, _ and -.', {
      hint: 'for example chat',
      exitCode: 2,
    });
  const file = `evals/${set}.yaml`;
  const path = join(projectDir, file);
  const asked = turns.slice(-mostTurns);
  const { message: question = '', evidence = [] } = asked.at(-1) ?? {};
  const before = asked.slice(0, -1).map(({ message }) => ({ question: message }));
  const expect = expectedResult(evidence);
  const editor = editQuestionSet(await readText(path, projectDir), {
    file,
    header: { ...(agent === undefined ? {} : { agent }), connection },
    otherFile: 'give another name',
  });
  const id = uniqueId(questionSlug(question), editor.ids);
  const last = { question, expect };
  const own = evidence.at(-1)?.connection;
  editor.addCase({
    id,
    ...(before.length === 0 ? last : { turns: [...before, last] }),
    ...(own === undefined || own === connection ? {} : { connection: own }),
    ...(confirmedBy === undefined ? {} : { confirmed_by: confirmedBy }),
  });
  await writeAtomically(path, editor.toText(), { within: projectDir });
  return { file, id, question, expect };
}

function expectedResult(evidence: readonly QueryEvidence[]): object {
  const last = evidence.at(-1);
  if (last === undefined) return { refuses: true };
  const metrics = curatedMetrics(last.receipt);
  const expect = {
    ...(last.sql === undefined ? {} : { result: { golden_sql: last.sql } }),
    ...(metrics.length === 0 ? {} : { semantic_layer: { metrics } }),
  };
  // What ran was no query of a warehouse, but it was called.
  return Object.keys(expect).length === 0 ? { tools: [{ name: last.tool }] } : expect;
}

function curatedMetrics(receipt: unknown): readonly string[] {
  const metrics: unknown = receipt instanceof Object ? Reflect.get(receipt, 'metrics') : undefined;
  const entries: readonly unknown[] = Array.isArray(metrics) ? metrics : [];
  return entries.flatMap((entry) =>
    entry instanceof Object && 'metric' in entry && typeof entry.metric === 'string'
      ? [entry.metric]
      : [],
  );
}

/** `what-was-revenue-by-region` */
function questionSlug(question: string): string {
  const words = question
    .toLowerCase()
    .normalize('NFKD')
    .match(/[a-z0-9]+/g) ?? ['case'];
  return words.slice(0, 8).join('-').slice(0, 60);
}

function uniqueId(base: string, taken: ReadonlySet<unknown>): string {
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(id)) return id;
  }
}
