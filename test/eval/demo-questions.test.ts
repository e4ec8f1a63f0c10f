import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { say, type Script, use } from '../support/model-script.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';

const questionFile = join(import.meta.dirname, '../../examples/demo-evals/fernholm.yaml');
const base = mkdtempSync(join(tmpdir(), 'ktx-eval-demo-'));
const dir = join(base, 'demo');
let endpoint: ModelEndpoint;

beforeAll(async () => {
  endpoint = await openModelEndpoint();
  process.env['EVAL_TEST_KEY'] = 'made-up';
  const { code, stderr } = await ktx(['demo', '--dir', dir], { cwd: base });
  if (code !== 0) throw new Error(stderr);
  mkdirSync(join(dir, 'evals'));
  copyFileSync(questionFile, join(dir, 'evals/fernholm.yaml'));
  const config = readFileSync(join(dir, 'ktx.yaml'), 'utf8');
  writeFileSync(join(dir, 'ktx.yaml'), `${config}\nllm:\n  provider: {backend: anthropic, anthropic: {api_key: env:EVAL_TEST_KEY, base_url: "${endpoint.url}/v1"}}\n  models: {default: claude-eval}\n`); // prettier-ignore
});
afterAll(async () => {
  delete process.env['EVAL_TEST_KEY'];
  await endpoint?.close();
  rmSync(base, { recursive: true, force: true });
});

const turnSchema = z.looseObject({
  question: z.string(),
  expect: z.looseObject({ result: z.looseObject({ golden_sql: z.string() }).optional() }),
});
const caseSchema = z.looseObject({ id: z.string(), tags: z.array(z.string()), turns: z.array(turnSchema).optional() });
const cases = z.looseObject({ cases: z.array(caseSchema) }).parse(load(readFileSync(questionFile, 'utf8'))).cases; // prettier-ignore
const turns = cases.flatMap((one) => (one.turns ?? [turnSchema.parse(one)]).map((turn) => ({ ...turn, id: one.id })));

/** What the semantic layer is asked where a case wants a metric. */
const metricQueries: Readonly<Record<string, object>> = {
  'orders-by-channel': { metrics: ['orders.count'], dimensions: ['orders.channel'] },
  'average-order': { metrics: ['orders.average_order'] },
  satisfaction: { metrics: ['tickets.satisfaction'] },
  'revenue-total': { metrics: ['orders.revenue'] },
  'revenue-by-month-2025': { metrics: ['orders.revenue'], dimensions: ['orders.placed_at.month'], where: ["orders.placed_at >= '2025-01-01'", "orders.placed_at < '2026-01-01'"] }, // prettier-ignore
  'revenue-by-buyer-region': { metrics: ['orders.revenue'], dimensions: ['orders.buyer.regions.rgn_nm'] },
  'revenue-by-recipient-region': { metrics: ['orders.revenue'], dimensions: ['orders.recipient.regions.rgn_nm'] },
  'gifts-by-channel': { metrics: ['orders.gifts'], dimensions: ['orders.channel'], where: ['orders.recipient_id <> orders.buyer_id'] },
  'orders-and-tickets-total': { metrics: ['orders.count', 'tickets.count'] },
  'revenue-to-date': { metrics: ['orders.revenue_to_date'], dimensions: ['orders.placed_at.month'], where: ["orders.placed_at >= '2025-01-01'", "orders.placed_at < '2026-01-01'"] }, // prettier-ignore
};
const words: Readonly<Record<string, string>> = {
  'revenue-total': 'Paid orders; the handbook says it differently [q1].',
  'revenue-definition': 'Orders that were paid (dbt), or all that were not cancelled (the handbook).',
  'region-then-channel': 'DACH [q1].',
};
/** Answers that only look right: the wrong role, a number from nowhere, a dodge, a definition of one's own. */
const wrong: Readonly<Record<string, readonly ReturnType<Script>[]>> = {
  'revenue-by-recipient-region': [use('query_metrics', metricQueries['revenue-by-buyer-region']), say('By region [q1].')],
  customers: [say('There are 927 customers.')],
  margin: [use('run_sql', { sql: 'SELECT 1 AS margin' }), say('The margin is 1 [q1].')],
  'orders-and-tickets-by-month': [
    use('run_sql', { sql: "SELECT date_trunc('month', placed_at) AS m, count(o.id), count(ticket_id) FROM orders AS o LEFT JOIN tickets AS t ON t.order_id = o.id WHERE year(placed_at) = 2025 GROUP BY 1" }),
    say('Side by side [q1].'),
  ],
  'revenue-and-pieces': [use('query_metrics', { metrics: ['orders.orders_placed'] }), say('Here [q1].')],
  'orders-by-channel': [use('run_sql', { sql: 'SELECT channel, count(*) FROM orders GROUP BY 1' }), say('By hand [q1].')],
}; // prettier-ignore

/** Does what `choose` says for the question that was asked last, a step a call. */
function agent(choose: (id: string, golden: string | undefined, n: number) => readonly ReturnType<Script>[]): Script {
  return ({ messages }) => {
    const at = messages.findLastIndex(({ role, text }) => role === 'user' && turns.some(({ question }) => text.includes(question)));
    const turn = turns.findLast(({ question }) => messages[at]?.text.includes(question));
    if (turn === undefined) return say('I do not know.');
    const done = messages.slice(at).filter(({ role }) => role === 'assistant').length;
    const queries = messages.filter(({ text }) => /Evidence q\d+/.test(text)).length;
    const steps = choose(turn.id, turn.expect.result?.golden_sql, done === 0 ? queries + 1 : queries);
    return steps[Math.min(done, steps.length - 1)] ?? say('?');
  };
}

const right = (id: string, golden: string | undefined, n: number): readonly ReturnType<Script>[] => {
  const query = metricQueries[id];
  if (query !== undefined) return [use('query_metrics', query), say(words[id] ?? `As defined [q${n}].`)];
  if (golden !== undefined) return [use('run_sql', { sql: golden }), say(n > 1 ? `So many [q${n}].` : (words[id] ?? `So many [q${n}].`))];
  if (id === 'revenue-definition') return [use('read_context', { name: 'orders' }), say(words[id] ?? '')];
  return [say('The data does not hold that.')];
};

interface Data {
  readonly run: { readonly id: string; readonly cases: readonly { id: string; outcome: string; attempts: unknown }[] };
}

async function evaluate(...args: string[]): Promise<{ code: number; bad: string[]; data: Data }> {
  const { code, envelope } = await ktxJson(['eval', 'run', '--concurrency', '4', ...args], { cwd: dir });
  if (envelope.data === undefined) throw new Error(JSON.stringify(envelope.error));
  const data = envelope.data as Data;
  return { code, data, bad: data.run.cases.flatMap(({ id, outcome }) => (outcome === 'pass' ? [] : [id.replace('fernholm/', '')])) };
}

describe('the questions of the demo', () => {
  test('are at least 25 of every kind, and their golden SQL proves something', async () => {
    expect(cases.length).toBeGreaterThanOrEqual(25);
    const kinds = ['simple', 'contested', 'role-playing', 'multi-fact', 'time-comparison', 'unanswerable', 'follow-up'];
    expect(kinds.filter((kind) => cases.filter(({ tags }) => tags.includes(kind)).length < 3)).toEqual([]);
    const { code, stdout } = await ktx(['eval', 'check'], { cwd: dir });
    expect([code, stdout.match(/^(?:error|weak) .*$/gm)]).toEqual([0, null]);
  });

  test('right answers pass; the wrong role, a number from nowhere, a dodge and a fan-out do not', async () => {
    endpoint.fallback = agent(right);
    const all = await evaluate();
    expect([all.bad, all.code]).toEqual([[], 0]);
    endpoint.fallback = agent((id, golden, n) => wrong[id] ?? right(id, golden, n));
    const some = await evaluate('--baseline', 'last', '--fail-on-regression');
    expect([some.bad.sort(), some.code]).toEqual([Object.keys(wrong).sort(), 1]);
  });

  test('a changed definition breaks exactly what stands on it, and the comparison shows its SQL', async () => {
    endpoint.fallback = agent(right);
    await evaluate('--tag', 'simple', '--tag', 'contested', '--tag', 'multi-fact', '--tag', 'role-playing');
    const file = join(dir, 'semantic-layer/shop/orders.yaml');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, before.replace("{name: revenue, agg: sum, of: amount, where: status = 'paid'", "{name: revenue, agg: sum, of: amount, where: status <> 'cancelled'"));
    const { bad } = await evaluate('--tag', 'simple', '--tag', 'contested', '--tag', 'multi-fact', '--tag', 'role-playing');
    const { envelope } = await ktxJson(['eval', 'compare', 'previous', 'last'], { cwd: dir });
    writeFileSync(file, before);
    const onRevenue = ['average-order', 'revenue-total', 'revenue-by-month-2025', 'revenue-by-buyer-region', 'revenue-by-recipient-region'];
    expect(bad).toEqual(onRevenue);
    const { differs, changes } = envelope.data as { differs: string[]; changes: { id: string; kind: string; sql: { mark: string; text: string }[] }[] };
    expect(differs).toEqual(['semantic_layer']);
    expect(changes.map(({ id, kind }) => `${kind} ${id.replace('fernholm/', '')}`)).toEqual(onRevenue.map((id) => `broken ${id}`));
    for (const { sql } of changes) {
      const marked = (mark: string): string => sql.filter((line) => line.mark === mark).map(({ text }) => text).join('\n');
      expect(marked('-')).toContain("= 'paid'");
      expect(marked('+')).toContain("<> 'cancelled'");
    }
  }); // prettier-ignore

  test('without context: both columns in one table, and metrics are not graded there', async () => {
    endpoint.fallback = (call) => (call.tools.includes('query_metrics') ? agent(right)(call) : agent((_id, golden) => (golden === undefined ? [say('Not in the data.')] : [say('About 100.')]))(call));
    const { code, stdout } = await ktx(['eval', 'run', '--without-context', '--case', 'customers', '--case', 'satisfaction', '--case', 'margin', '--case', 'revenue-definition'], { cwd: dir });
    expect(code).toBe(0);
expect(stdout).toMatch(/with context +without context\ncases +4 of 4 pass +1 of 4 pass, 3 fail\naccuracy +100 % \(51 % to 100 %\) +25 % \(5 % to 70 %\)\ntokens/);
  }); // prettier-ignore
});
