import { Document, isSeq, parseDocument } from 'yaml';
import type { OpenAgent } from '../../chat/open-agent.ts';
import { UserError } from '../../lib/error.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import { readText } from '../../store/files.ts';
import type { ChatExchange } from './conversation-text.ts';

/** The text of the question set at `path` with the exchange added as a case, and the id of that case. Writes nothing. */
export async function addExchangeAsCase(
  path: string,
  { about, message, result }: ChatExchange & { readonly about: OpenAgent['about'] },
): Promise<{ id: string; text: string }> {
  const before = await readText(path);
  const [connection] = about.connections;
  const document =
    before === undefined
      ? new Document({ version: 1, agent: about.agent, connection, cases: [] })
      : parseDocument(before);
  const cases = document.get('cases');
  if (document.errors.length > 0 || !isSeq(cases)) {
    throw new UserError('eval_invalid', `${path} is not a question set.`, {
      hint: 'correct the file, or use another one: /eval <name>',
      exitCode: 2,
    });
  }
  const takenIds = cases
    .toJSON()
    .map((entry: unknown) => (entry instanceof Object ? String(Reflect.get(entry, 'id')) : ''));
  const id = uniqueId(questionSlug(message), new Set(takenIds));
  cases.add(document.createNode({ id, question: message, expect: expectedResult(result) }));
  return { id, text: document.toString({ lineWidth: 0 }) };
}

/** Expects what the last query of the answer gave; a person corrects it. */
function expectedResult({ evidence }: TurnResult): object {
  const last = evidence.at(-1);
  if (last === undefined) return { refuses: true };
  const metrics = curatedMetrics(last.receipt);
  return {
    ...(last.sql === undefined ? {} : { result: { golden_sql: last.sql } }),
    ...(metrics.length === 0 ? {} : { semantic_layer: { metrics } }),
  };
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

function uniqueId(base: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(id)) return id;
  }
}
