import { Document, isSeq, parseDocument } from 'yaml';
import type { OpenAgent } from '../../chat/open-agent.ts';
import { UserError } from '../../lib/error.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import { readText } from '../../store/files.ts';

interface Exchange {
  readonly about: OpenAgent['about'];
  readonly message: string;
  readonly result: TurnResult;
}

/** The question set with the exchange as one more case: its question, the metrics or the SQL that answered it. */
export async function caseFile(
  path: string,
  { about, message, result }: Exchange,
): Promise<{ id: string; text: string }> {
  const before = await readText(path);
  const [connection] = about.connections;
  const document =
    before === undefined
      ? new Document({ version: 1, agent: about.agent, connection, cases: [] })
      : parseDocument(before);
  const cases = document.get('cases');
  if (document.errors.length > 0 || !isSeq(cases)) {
    throw new UserError('eval_invalid', `${path} is no question set.`, {
      hint: 'correct it, or name another: /eval <name>',
      exitCode: 2,
    });
  }
  const taken = new Set(
    cases
      .toJSON()
      .map((each: unknown) => (each instanceof Object ? String(Reflect.get(each, 'id')) : '')),
  );
  const id = freeId(slug(message), taken);
  cases.add(document.createNode({ id, question: message, expect: expectation(result) }));
  return { id, text: document.toString({ lineWidth: 0 }) };
}

/** The last query decides: what a person then corrects is better than nothing. */
function expectation({ evidence }: TurnResult): object {
  const last = evidence.at(-1);
  if (last === undefined) return { refuses: true };
  const metrics = metricsOf(last.receipt);
  const result = last.sql === undefined ? {} : { result: { golden_sql: last.sql } };
  return { ...result, ...(metrics.length === 0 ? {} : { semantic_layer: { metrics } }) };
}

function metricsOf(receipt: unknown): readonly string[] {
  const metrics: unknown = receipt instanceof Object ? Reflect.get(receipt, 'metrics') : undefined;
  const list: readonly unknown[] = Array.isArray(metrics) ? metrics : [];
  return list.flatMap((one) =>
    one instanceof Object && 'metric' in one && typeof one.metric === 'string' ? [one.metric] : [],
  );
}

function slug(text: string): string {
  const words = text
    .toLowerCase()
    .normalize('NFKD')
    .match(/[a-z0-9]+/g) ?? ['case'];
  return words.slice(0, 8).join('-').slice(0, 60);
}

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? wanted : `${wanted}-${n}`;
    if (!taken.has(id)) return id;
  }
}
