import type { OpenAgent } from '../../chat/open-agent.ts';
import { editQuestionSet } from '../../eval/cases/edit-question-set.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import { readText } from '../../store/files.ts';
import type { ChatExchange } from './shown-exchanges.ts';

/**
 * The text of the question set at `path` with the exchange added as a case, and the id of that
 * case. Writes nothing.
 */
export async function addExchangeAsCase(
  path: string,
  { about, message, result }: ChatExchange & { readonly about: OpenAgent['about'] },
): Promise<{ id: string; text: string }> {
  const [connection] = about.connections;
  const editor = editQuestionSet(await readText(path), {
    file: path,
    header: { agent: about.agent, connection },
    otherFile: '/eval <name>',
  });
  const id = uniqueId(questionSlug(message), editor.ids);
  editor.addCase({ id, question: message, expect: expectedResult(result) });
  return { id, text: editor.toText() };
}

/** Expects the result of the answer's last query. A person corrects it if the answer is wrong. */
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

function uniqueId(base: string, taken: ReadonlySet<unknown>): string {
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(id)) return id;
  }
}
