import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ktxJson } from '../cli/run-cli.ts';
import { backendsOfRun, openMachine, type ModelMachine } from '../ingest/llm-project.ts';
import { openShop, type Shop } from '../mcp/shop.ts';
import { say, type Script, use } from '../support/model-script.ts';
import { problemsOf } from './junit-schema.ts';

let machine: ModelMachine;
let shop: Shop;
beforeAll(async () => {
  machine = await openMachine();
  shop = await openShop('sqlite');
  mkdirSync(join(shop.dir, 'evals'), { recursive: true });
});
afterAll(async () => {
  shop.remove();
  await machine.close();
});

const nothing = 'SELECT id FROM orders WHERE amount > 1000000';
const onlyNull = 'SELECT max(amount) AS v FROM orders WHERE id < 0';
const missing = { reason: 'missing_data', missing: 'Nobody records NPS.' };
const refusing = use('cannot_answer', missing);

/** What the agent does for each case, and how it says so: in words that no list of phrases has. */
const answers: Readonly<Record<string, readonly ReturnType<Script>[]>> = {
  recorded: [refusing, say('Talaan ng NPS: wala kami niyan.')],
  contradicts: [refusing, say('NPS är 42.')],
  misspelled: [use('cannot_answer', { reason: 'tired' }), say('Wala kami niyan.')],
  in_words: [say('We do not record NPS.')],
  empty: [use('run_sql', { sql: nothing }), say('None [q1].')],
  only_null: [use('run_sql', { sql: onlyNull }), say('Nothing [q1].')],
};
const expectations: Readonly<Record<string, string>> = {
  empty: `{result: {golden_sql: "${nothing}"}}`,
  only_null: `{result: {golden_sql: "${onlyNull}"}}`,
};

async function play(backend: string, args: readonly string[]) {
  const { endpoint, claude } = machine;
  const api = `{backend: anthropic, anthropic: {api_key: env:TEST_KEY, base_url: ${endpoint.url}/v1}}`;
  const provider = backend === 'anthropic' ? api : `{backend: ${backend}}`;
  writeFileSync(
    join(shop.dir, 'ktx.yaml'),
    `connections:\n  shop: {driver: sqlite, path: shop.sqlite}\nllm:\n  provider: ${provider}\n  models: {default: claude-sonnet-4-6}\n`,
  );
  const cases = Object.keys(answers).map(
    (id) =>
      `  - {id: ${id}, question: What is ${id}?, expect: ${expectations[id] ?? '{refuses: true}'}}\n`,
  );
  writeFileSync(join(shop.dir, 'evals/shop.yaml'), `cases:\n${cases.join('')}`);
  endpoint.fallback = ({ messages, system }) => {
    if (!system.includes('shop')) return say('ready');
    const asked = messages.findLastIndex(({ text }) => text.includes('What is'));
    const id = /What is (\w+)\?/.exec(messages[asked]?.text ?? '')?.[1] ?? '';
    const steps = answers[id] ?? [];
    const done = messages.slice(asked).filter(({ role }) => role === 'assistant').length;
    return steps[Math.min(done, steps.length - 1)] ?? say('?');
  };
  const env = { ...claude.env, TEST_KEY: 'sk-made-up' } as Record<string, string>;
  return ktxJson(args, { cwd: shop.dir, env });
}

interface Run {
  readonly run: {
    readonly cases: readonly {
      readonly id: string;
      readonly outcome: string;
      readonly attempts: readonly {
        turns: readonly { findings: readonly { found: string }[] }[];
      }[];
    }[];
  };
  readonly columns: readonly { decided: number; counts: Readonly<Record<string, number>> }[];
}

describe.each(backendsOfRun)('an answer that is none, on %s', (backend) => {
  test('is right if the agent records it, in any language, and gives no number', async () => {
    const { code, envelope } = await play(backend, ['eval', 'run', '--junit', 'junit.xml']);
    const { run, columns } = envelope.data as Run;
    const outcomes = run.cases.map(({ id, outcome }) => [id.replace('shop/', ''), outcome]);
    expect(Object.fromEntries(outcomes)).toEqual({
      recorded: 'pass',
      contradicts: 'fail',
      misspelled: 'fail',
      in_words: 'pass',
      empty: 'weak',
      only_null: 'weak',
    });
    expect(code).toBe(1);
    const [first] = run.cases;
    expect(first?.attempts[0]?.turns[0]?.findings[0]?.found).toBe(
      'says that it cannot answer (missing_data): Nobody records NPS.',
    );
    // What shows little is neither right nor wrong.
    expect(columns[0]).toMatchObject({ decided: 4, counts: { pass: 2, weak: 2, fail: 2 } });
    const junit = readFileSync(join(shop.dir, 'junit.xml'), 'utf8');
    expect(await problemsOf({ junit })).toEqual({ junit: [] });
    expect(junit).toMatch(/name="empty"[^>]*><system-out>weak: [^<]*both are empty/);
  });

  test('with empty golden rows fails no build', async () => {
    const chosen = ['recorded', 'empty', 'only_null'].flatMap((id) => ['--case', id]);
    expect((await play(backend, ['eval', 'run', ...chosen])).code).toBe(0);
  });

  test('is a key of its own for whoever asks by program', async () => {
    const { code, envelope } = await play(backend, ['ask', 'What is recorded?']);
    expect([code, envelope.data]).toEqual([0, expect.objectContaining({ cannot_answer: missing })]);
    const words = await play(backend, ['ask', 'What is in_words?']);
    expect(words.envelope.data).not.toHaveProperty('cannot_answer');
  });
});
