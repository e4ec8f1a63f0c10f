import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ktxJson } from '../cli/run-cli.ts';
import { approve } from '../support/approve.ts';
import { type AskedProject, openAskedProject } from '../support/asked-project.ts';
import { say, type Script, use } from '../support/model-script.ts';

let asked: AskedProject;
beforeAll(async () => {
  asked = await openAskedProject();
  mkdirSync(join(asked.dir, 'evals'));
  mkdirSync(join(asked.dir, 'wiki'));
  writeFileSync(join(asked.dir, 'wiki/house.md'), '# House\n\n## Turnover rule\n\nWiki words.\n');
});
afterAll(() => asked?.close());

const golden = "SELECT sum(amount) AS v FROM orders WHERE status = 'paid'";
const count = 'SELECT count(*) AS n FROM customers';
beforeEach(() => {
  writeFileSync(
    join(asked.dir, 'evals/shop.yaml'),
    `cases:
  - {id: paid, question: What is the revenue?, expect: {result: {golden_sql: "${golden}"}, semantic_layer: {metrics: [orders.revenue]}}}
  - {id: people, question: How many customers?, expect: {result: {golden_sql: "${count}"}}}
  - {id: nps, question: What is our NPS?, expect: {refuses: true}}
`,
  );
});

const bySql = (sql: string) => use('run_sql', { sql });
/** Knows the revenue only from the metric, and does not try without. */
const agent: Script = ({ messages, tools, results }) => {
  const question = messages.findLast(({ role }) => role === 'user')?.text ?? '';
  if (messages.some(({ text }) => text.includes('NPS'))) return say('We do not record NPS.');
  const isDone = results.length > 0;
  if (messages.some(({ text }) => text.includes('How many customers')))
    return isDone ? say('40 [q1].') : bySql(count);
  if (!question.includes('revenue') && !isDone) return say('?');
  if (!tools.includes('query_metrics')) return say('The data does not hold that.');
  return isDone ? say('1,800 EUR [q1].') : use('query_metrics', { metrics: ['orders.revenue'] });
};

interface Condition {
  readonly name: string;
  readonly summary: { counts: Record<string, number>; accuracy?: { value: number } };
  readonly refusals: Record<'answerable' | 'unanswerable', { refused: number; of: number }>;
  readonly total: { tokens: number; cost_usd?: number; seconds: number };
}
interface Data {
  readonly bench: {
    readonly id: string;
    readonly conditions: readonly Condition[];
    readonly differences: readonly {
      before: string;
      after: string;
      pairs: { better: number; worse: number; pairs: number };
    }[];
  };
}
async function bench(script: Script, ...args: string[]) {
  const played = asked.playing(script);
  await approve(asked.dir);
  const { code, envelope } = await ktxJson(['bench', ...args], { cwd: asked.dir });
  return { played, code, error: envelope.error, data: envelope.data as Data };
}

describe('ktx bench', () => {
  test('compares the conditions: accuracy, refusals apart, tokens, dollars, seconds', async () => {
    const { code, data, played } = await bench(agent);
    expect(code).toBe(0);
    const { conditions, differences } = data.bench;
    expect(conditions.map(({ name, summary }) => [name, summary.counts['pass']])).toEqual([
      ['schema', 2],
      ['joins', 2],
      ['semantic_layer', 3],
      ['wiki', 3],
      ['all', 3],
    ]);
    expect(conditions.map(({ refusals }) => refusals)).toEqual([
      ...Array.from({ length: 2 }, () => ({
        answerable: { refused: 1, of: 2 },
        unanswerable: { refused: 1, of: 1 },
      })),
      ...Array.from({ length: 3 }, () => ({
        answerable: { refused: 0, of: 2 },
        unanswerable: { refused: 1, of: 1 },
      })),
    ]);
    for (const { total } of conditions) {
      expect(total.tokens).toBeGreaterThan(0);
      expect(total.cost_usd).toBeGreaterThan(0);
    }
    expect(differences.map(({ before, after, pairs }) => [before, after, pairs.better])).toEqual([
      ['schema', 'joins', 0],
      ['joins', 'semantic_layer', 1],
      ['semantic_layer', 'wiki', 0],
      ['wiki', 'all', 0],
    ]);
    expect(differences[1]?.pairs).toMatchObject({ pairs: 3, worse: 0 });
    const text = (name: string) => readFileSync(join(asked.dir, 'ktx-bench', name), 'utf8');
    for (const page of [text('bench.html'), text('bench.md')])
      for (const part of ['schema', 'semantic', 'refused, has an answer', 'dollars', 'seconds'])
        expect(page).toContain(part);
    expect(text('bench.md')).toMatch(/33 points .* on 3 shared cases: 1 better, 0 worse/);
    // What each condition has, as the model saw it.
    const systems = new Set(
      played.calls.map(({ system, tools }) =>
        [system.includes('The tables join like this'), ...[...tools].sort()].join(' '),
      ),
    );
    const has = (words: string) => [...systems].filter((each) => each.includes(words)).length;
    expect([systems.size, has('true'), has('query_metrics'), has('find_values')]).toEqual([
      4, 1, 2, 1,
    ]);
    const joins = played.calls.find(({ system }) => system.includes('The tables join like this'));
    expect(joins?.system).toContain('orders.customer_id = customers.id');
  });

  test('the wiki is found under its condition, and not before', async () => {
    const looking: Script = ({ results }) =>
      results.length === 0 ? use('search_context', { text: 'turnover rule' }) : say('Nothing.');
    const only = ['--case', 'nps', '--condition', 'semantic_layer', '--condition', 'wiki'];
    const { played } = await bench(looking, ...only);
    const found = played.calls.flatMap(({ results }) => JSON.stringify(results));
    const answers = found.filter((text) => text.includes('hits'));
    expect(
      answers.map((text) => text.includes('turnover_rule') || text.includes('Wiki words')),
    ).toEqual([false, true]);
  });

  test('what is paid for is kept: a run out of time goes on and asks nothing twice', async () => {
    const short = await bench(agent, '--max-minutes', '0.0000001', '--condition', 'schema');
    expect([short.code, short.error?.code]).toEqual([3, 'bench_incomplete']);
    expect(short.played.calls).toEqual([]);
    const logs = () =>
      readdirSync(join(asked.dir, '.ktx/evals')).filter((name) => name.endsWith('.bench.jsonl'));
    expect(logs()).toHaveLength(1);
    const log = join(asked.dir, '.ktx/evals', logs()[0] ?? '');
    // As a killed benchmark leaves it: one answer, and half of the next.
    const one = {
      outcome: 'pass',
      turns: [
        {
          question: 'Q',
          outcome: 'pass',
          answer: 'Kept.',
          stop_reason: 'completed',
          findings: [],
          queries: [],
          tools: [],
          tokens: 7,
          cost_usd: 0.1,
          ms: 5,
        },
      ],
    };
    const line = { case: 'shop/paid', context: true, condition: 'schema', attempt: one };
    writeFileSync(log, `${readFileSync(log, 'utf8')}\n${JSON.stringify(line)}\n{"case":"shop/pe`);
    const model = readFileSync(join(asked.dir, 'ktx.yaml'), 'utf8');
    const { envelope, code } = await ktxJson(['bench', '--resume'], { cwd: asked.dir });
    expect(readFileSync(join(asked.dir, 'ktx.yaml'), 'utf8')).toBe(model);
    expect(code).toBe(0);
    const [schema] = (envelope.data as Data).bench.conditions;
    expect(schema?.summary.counts['pass']).toBe(3);
    expect(JSON.stringify(envelope.data)).toContain('Kept.');
    expect(short.played.calls.some(({ messages }) => messages[0]?.text.includes('revenue'))).toBe(
      false,
    );
    expect(logs()).toEqual([]);
    expect((await ktxJson(['bench', '--resume'], { cwd: asked.dir })).envelope.error?.code).toBe(
      'run_unknown',
    );
  });

  test('a budget stops it, and verifies nothing', async () => {
    const { code, error } = await bench(agent, '--budget', '0.000001');
    expect([code, error?.code]).toEqual([3, 'bench_incomplete']);
    expect(readdirSync(join(asked.dir, '.ktx'))).not.toContain('verified');
  });
});
