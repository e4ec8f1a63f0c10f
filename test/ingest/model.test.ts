import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type envelopeSchema, ktxJson } from '../cli/run-cli.ts';
import { run, write } from '../store/git-project.ts';
import { claudeBinary, makeClaudeHome, type ClaudeHome } from '../support/claude-home.ts';
import {
  describedTable,
  describeEach,
  describing,
  type TablePicture,
  tablesAsked,
} from '../support/describing-model.ts';
import { openModelEndpoint, type ModelEndpoint } from '../support/model-endpoint.ts';
import { fail, give, type ModelCall, say, type Script } from '../support/model-script.ts';
import { shopProject, sql } from './ingest-project.ts';
import { hasSlowCases } from '../slow-suites.ts';
import { approve } from '../support/approve.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
let endpoint: ModelEndpoint;
let claude: ClaudeHome;
let asked: string[] = [];

beforeAll(async () => {
  endpoint = await openModelEndpoint();
  claude = await makeClaudeHome(endpoint);
  process.env['TEST_KEY'] = 'sk-made-up';
});
afterAll(async () => {
  await claude.remove();
  await endpoint.close();
});

/** Answers with `script`, and notes the tables that were asked for: each call of the port once. */
function answering(script: Script): void {
  asked = [];
  endpoint.fallback = (call: ModelCall) => {
    if (!call.objectTaken) asked.push(...tablesAsked(call).map(({ table }) => table));
    return script(call);
  };
}

const blocks: Readonly<Record<string, (url: string) => string>> = {
  anthropic: (url) => `anthropic: {api_key: env:TEST_KEY, base_url: ${url}/v1}`,
  openai: (url) => `openai: {api_key: env:TEST_KEY, base_url: ${url}/v1}`,
  gateway: (url) => `gateway: {api_key: env:TEST_KEY, base_url: ${url}/v3/ai}`,
  'claude-code': () => '',
};
const models: Readonly<Record<string, string>> = {
  'claude-code': 'sonnet',
  gateway: 'anthropic/claude-sonnet-4.6',
};

function project(backend: string, further = ''): string {
  const dir = shopProject();
  const block = [`backend: ${backend}`, blocks[backend]?.(endpoint.url)].filter(Boolean).join(', ');
  const llm = `llm:\n  provider: {${block}}\n  models: {default: ${models[backend] ?? 'claude-sonnet-4-6'}}\n`;
  write(
    dir,
    'ktx.yaml',
    `connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n${llm}${further}`,
  );
  run(dir, 'commit', '-qam', 'a model');
  return dir;
}

interface DescribedRun {
  readonly code: number | null;
  /** In their order, without the envelope. */
  readonly events: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly envelope: ReturnType<typeof envelopeSchema.parse> & { readonly data: DescribedReport };
}
interface DescribedReport {
  readonly connections: readonly {
    readonly descriptions: {
      readonly done: number;
      readonly total: number;
      readonly calls: number;
    };
  }[];
  readonly commit: { readonly id?: string };
}

const environment = () => ({ ...claude.env, TEST_KEY: 'sk-made-up' });

/** `ktx ingest --json` in this process. */
async function ingest(dir: string): Promise<DescribedRun> {
  const { code, lines, envelope } = await ktxJson(['ingest', '--project-dir', dir], {
    cwd: dir,
    env: environment(),
  });
  const events = lines
    .slice(0, -1)
    .map((line) => JSON.parse(line) as DescribedRun['events'][number]);
  return { code, events, envelope } as DescribedRun;
}

/** The same as a process of its own, which `onStart` kills. */
async function killIngest(dir: string, onStart: (kill: () => void) => void): Promise<void> {
  await approve(dir, environment());
  const child = spawn(process.execPath, [main, 'ingest', '--json', '--project-dir', dir], {
    env: environment(),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onStart(() => child.kill('SIGKILL'));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code).toBe(null);
}

/** What people read, by path. */
function artifacts(dir: string): Record<string, string> {
  const paths = globSync(['semantic-layer/**/*.yaml', 'claims/**/*.jsonl'], { cwd: dir }).sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(dir, path), 'utf8')]));
}

/** How many results the journal holds. */
function kept(dir: string): number {
  const db = new DatabaseSync(join(dir, '.ktx/journal.db'), { readOnly: true });
  try {
    return Number(db.prepare('SELECT count(*) AS n FROM results').get()?.['n']);
  } finally {
    db.close();
  }
}

/** Leaves a column of one table out. */
const withoutOrders = (table: TablePicture) =>
  table.table === 'orders'
    ? { description: 'Orders.', columns: [{ name: 'id', description: 'Which.' }] }
    : describedTable(table);

const tables = ['coupons', 'customers', 'orders'];
const described = (calls: number) => [
  expect.objectContaining({ descriptions: { done: 3, total: 3, calls } }),
];
const backends = Object.keys(blocks).filter(
  (backend) => backend !== 'claude-code' || claudeBinary() !== undefined,
);
const backendsOfRun = hasSlowCases ? backends : ['anthropic', 'openai'];

/** The files of whoever described the shop first. */
let whatAnyoneWrites: Readonly<Record<string, string>> | undefined;

describe.each(backendsOfRun)('tables described by a model behind %s', (backend) => {
  test('all in one call where they fit, the same files whoever answers; a second run makes none; one changed table costs one [M1 M3 Q2]', async () => {
    const dir = project(backend);
    answering(describing);
    const first = await ingest(dir);
    expect(first).toMatchObject({ code: 0, envelope: { data: { connections: described(1) } } });
    expect(asked.toSorted()).toEqual(tables);
    expect(first.events.findLast(({ type }) => type === 'llm_usage')).toMatchObject({
      calls: 1,
      output: expect.any(Number),
    });
    const orders = readFileSync(join(dir, 'semantic-layer/shop/orders.yaml'), 'utf8');
    expect(orders).toContain('One row is one of orders.');
    expect(orders).toContain('The amount of it.');
    const found = artifacts(dir);
    expect(Object.keys(found)).toHaveLength(6);
    expect(found).toEqual((whatAnyoneWrites ??= found));

    answering(() => fail('bad-request'));
    const second = await ingest(dir);
    expect(second).toMatchObject({
      code: 0,
      envelope: { data: { connections: described(0), commit: {} } },
    });
    expect(second.envelope.data.commit.id).toBeUndefined();
    expect(asked).toEqual([]);

    answering(describing);
    sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT');
    expect(await ingest(dir)).toMatchObject({
      code: 0,
      envelope: { data: { connections: described(1) } },
    });
    expect(asked).toEqual(['orders']);
    expect(readFileSync(join(dir, 'semantic-layer/shop/orders.yaml'), 'utf8')).toContain(
      'The note of it.',
    );
  });
});

describe('descriptions', () => {
  test('are the same too where the model misbehaves once and is corrected', async () => {
    for (const backend of hasSlowCases ? ['anthropic', 'claude-code'] : ['anthropic']) {
      if (!backends.includes(backend)) continue;
      const dir = project(backend);
      let wrong = 0;
      answering((call) => {
        const isFirst = !call.objectTaken && tablesAsked(call).length > 0 && (wrong += 1) === 1;
        return isFirst ? give({ tables: [{ number: 1, columns: 'none' }] }) : describing(call);
      });
      expect(await ingest(dir)).toMatchObject({
        code: 0,
        envelope: { data: { connections: described(2) } },
      });
      const found = artifacts(dir);
      expect(found).toEqual((whatAnyoneWrites ??= found));
    }
  });

  test('of a batch that arrived before a kill are not paid for again', async () => {
    const dir = project('anthropic');
    const { promise: started, resolve: start } = Promise.withResolvers<() => void>();
    answering(async (call) => {
      if (tablesAsked(call).length === 0) return say('ready');
      if (tablesAsked(call).length > 1) return describeEach(call, withoutOrders);
      while (kept(dir) < 2) await sleep(20);
      (await started)();
      return fail('server-error');
    });
    await killIngest(dir, start);
    answering(describing);
    expect(await ingest(dir)).toMatchObject({
      code: 0,
      envelope: { data: { connections: described(1) } },
    });
    expect(asked).toEqual(['orders']);
  });

  test('that failed leave the run partial, say how many there are, and come with the next run', async () => {
    const dir = project('anthropic');
    answering((call) =>
      tablesAsked(call).some(({ table }) => table === 'customers')
        ? fail('too-long')
        : describing(call),
    );
    const partial = await ingest(dir);
    expect(partial).toMatchObject({
      code: 3,
      envelope: {
        ok: false,
        error: { message: expect.stringContaining('2 of 3 tables described') },
      },
    });
    expect(Object.keys(artifacts(dir))).toHaveLength(6);
    answering(describing);
    expect(await ingest(dir)).toMatchObject({
      code: 0,
      envelope: { data: { connections: described(1) } },
    });
  });

  test('of an answer that leaves out a column are not taken', async () => {
    const dir = project('anthropic');
    answering((call) => describeEach(call, withoutOrders));
    const partial = await ingest(dir);
    expect(partial).toMatchObject({ code: 3, envelope: { error: { code: 'llm_invalid_output' } } });
    expect(readFileSync(join(dir, 'semantic-layer/shop/orders.yaml'), 'utf8')).not.toContain(
      'Orders.',
    );
  });

  test('a refused key ends the run with exit code 4 before any work', async () => {
    const dir = project('anthropic');
    answering(() => fail('auth'));
    expect(await ingest(dir)).toMatchObject({ code: 4, envelope: { error: { code: 'llm_auth' } } });
    expect(artifacts(dir)).toEqual({});
  });

  test('a clone without .ktx asks for nothing: git knows what was described', async () => {
    const dir = project('anthropic');
    answering(describing);
    await ingest(dir);
    const clone = `${dir}-clone`;
    run(dir, 'clone', '-q', dir, clone);
    cpSync(join(dir, 'shop.sqlite'), join(clone, 'shop.sqlite'));
    answering(() => fail('bad-request'));
    expect(await ingest(clone)).toMatchObject({
      code: 0,
      envelope: { data: { connections: described(0) } },
    });
    rmSync(clone, { recursive: true });
  });
});

interface Candidate {
  readonly id: number;
  readonly from: { readonly table: string; readonly columns: readonly string[] };
}

/** The links that a request asks to judge. */
function candidatesAsked({ messages }: ModelCall): readonly Candidate[] | undefined {
  const text = messages.map((message) => message.text).join('\n');
  const [, json] = /<untrusted-\w+ source="warehouse">\n([^]*?)\n<\/untrusted-/.exec(text) ?? [];
  return json === undefined
    ? undefined
    : (JSON.parse(json) as { candidates?: readonly Candidate[] }).candidates;
}

describe('links in doubt', () => {
  // Nothing is sure enough to be accepted without a verdict.
  const doubtful = 'scan: {accept: 0.9999}\n';
  const proposal = (column: string, key: string) => ({
    from_table: 'main.orders',
    from_columns: [column],
    to_table: 'main.coupons',
    to_columns: [key],
  });

  function judging(
    joins: boolean,
    proposals: readonly unknown[] = [],
  ): { readonly script: Script; readonly judged: Candidate[] } {
    const judged: Candidate[] = [];
    const script: Script = (call) => {
      const candidates = call.objectTaken ? undefined : candidatesAsked(call);
      if (candidates === undefined) return describing(call);
      judged.push(...candidates);
      return give({
        verdicts: candidates.map(({ id }) => ({ id, joins, reason: 'its name says so' })),
        proposals,
      });
    };
    return { script, judged };
  }

  const orders = (dir: string): string =>
    readFileSync(join(dir, 'semantic-layer/shop/orders.yaml'), 'utf8');

  test('are accepted where the model says yes and the values bear it out; a second run asks nothing [M4 Q2]', async () => {
    const dir = project('anthropic', doubtful);
    const model = judging(true);
    answering(model.script);
    expect(await ingest(dir)).toMatchObject({
      code: 0,
      envelope: {
        data: { connections: [{ judgements: { calls: 1, total: model.judged.length } }] },
      },
    });
    expect(model.judged.map(({ from }) => from)).toContainEqual({
      table: 'main.orders',
      columns: ['customer_id'],
    });
    expect(orders(dir)).toContain('to: customers');
    expect(readFileSync(join(dir, 'claims/shop/orders.jsonl'), 'utf8')).toContain('link-judge@1');
    answering(() => fail('bad-request'));
    expect(await ingest(dir)).toMatchObject({
      code: 0,
      envelope: { data: { connections: [{ judgements: { calls: 0 } }], commit: {} } },
    });
    expect(orders(dir)).toContain('to: customers');
  });

  test('that were accepted stay so in a clone, whoever answers there, or nobody; and nothing is asked', async () => {
    const dir = project('anthropic', doubtful);
    answering(judging(true).script);
    expect((await ingest(dir)).code).toBe(0);
    const clone = `${dir}-clone`;
    run(dir, 'clone', '-q', dir, clone);
    cpSync(join(dir, 'shop.sqlite'), join(clone, 'shop.sqlite'));
    answering(() => fail('server-error'));
    const unchanged = {
      code: 0,
      envelope: {
        data: { connections: [{ judgements: { calls: 0 } }], commit: { none: 'unchanged' } },
      },
    };
    expect(await ingest(clone)).toMatchObject(unchanged);
    write(
      clone,
      'ktx.yaml',
      `connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n${doubtful}`,
    );
    expect(await ingest(clone)).toMatchObject(unchanged);
    expect(orders(clone)).toContain('to: customers');
    rmSync(clone, { recursive: true });
  });

  test('are rejected where it says no', async () => {
    const dir = project('anthropic', doubtful);
    answering(judging(false).script);
    expect((await ingest(dir)).code).toBe(0);
    expect(orders(dir)).not.toContain('to: customers');
  });

  test('that the model proposes count only where the values bear them out', async () => {
    const dir = project('anthropic', 'scan: {accept: 0.9999, review: 0.5}\n');
    sql(
      dir,
      `ALTER TABLE orders ADD COLUMN promo TEXT; UPDATE orders SET promo = 'SUMMER' WHERE id % 5 = 0`,
    );
    answering(
      judging(false, [
        proposal('promo', 'code'),
        proposal('status', 'code'),
        proposal('no such column', 'code'),
      ]).script,
    );
    expect((await ingest(dir)).code).toBe(0);
    expect(orders(dir)).toContain('to: coupons');
    expect(orders(dir).match(/to: coupons/g)).toHaveLength(1);
  });

  test('are not proposed from a column to itself, to what is no key, or against a verdict', async () => {
    const dir = project('anthropic', doubtful);
    sql(
      dir,
      `ALTER TABLE orders ADD COLUMN side TEXT; UPDATE orders SET side = CASE id % 2 WHEN 0 THEN 'north' ELSE 'south' END`,
    );
    const towards = (column: string, table: string, key: string) => ({
      ...proposal(column, key),
      to_table: table,
    });
    const hostile = [
      towards('id', 'main.orders', 'id'),
      towards('side', 'main.customers', 'region'),
      towards('customer_id', 'main.customers', 'id'),
      towards('__proto__', '__proto__', 'constructor'),
    ];
    answering(judging(false, hostile).script);
    expect((await ingest(dir)).code).toBe(0);
    expect(orders(dir)).not.toContain('relationships');
  });
});
