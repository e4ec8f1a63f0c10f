import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countTokens } from '@anthropic-ai/tokenizer';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { get_encoding } from 'tiktoken';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import hostileCorpus from '../conformance/read-only-sql.json' with { type: 'json' };
import { hasSlowCases } from '../slow-suites.ts';
import { runPostgres } from '../support/postgres.ts';
import { engines, hostile, openShop, type Shop } from './shop.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** Those that npm has. The models of today have others, which count about the same. */
const tokenizers: Readonly<Record<string, (text: string) => number>> = {
  o200k: (text) => get_encoding('o200k_base').encode(text).length,
  Anthropic: countTokens,
};

interface Served {
  readonly client: Client;
  readonly stderr: () => string;
  call(
    name: string,
    args: Record<string, unknown>,
    options?: {
      signal?: AbortSignal;
      onprogress?: (progress: { progress: number; message?: string }) => void;
    },
  ): Promise<Called>;
}

interface Called {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: Structured;
}

interface Structured {
  readonly trust: {
    readonly status: string;
    readonly files?: readonly string[];
    readonly commit?: string;
  };
  readonly untrusted: Readonly<Record<string, unknown>> & {
    readonly begin: string;
    readonly end: string;
  };
  readonly page: {
    readonly truncated: boolean;
    readonly returned: number;
    readonly total: number;
    readonly next_cursor?: string;
  };
}

async function serve(shop: Shop, mode: 'legacy' | 'auto' = 'legacy'): Promise<Served> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, 'mcp', 'serve', '--project-dir', shop.dir],
    env: { ...process.env, ...shop.env } as Record<string, string>,
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await client.connect(transport);
  return {
    client,
    stderr: () => said,
    async call(name, args, options) {
      const result: {
        content: { type: string; text?: string }[];
        isError?: boolean;
        structuredContent?: unknown;
      } = await client.callTool({ name, arguments: args }, options);
      const [block] = result.content;
      const text = block?.text ?? '';
      return {
        text,
        isError: result.isError === true,
        structured: result.structuredContent as Structured,
      };
    },
  };
}

/** Everything outside the one untrusted block of a text. */
function outside(text: string): string {
  const [block, mark] =
    /<untrusted-([0-9a-f]{12}) source="[^"]*">\n[^]*\n<\/untrusted-\1>/.exec(text) ?? [];
  expect(mark, text).toBeDefined();
  return text.replace(block ?? '', '');
}

const calls = [
  ['search_context', { text: 'turnovr' }],
  ['find_values', { text: 'x' }],
  ['read_context', { name: 'orders' }],
  ['read_context', {}],
  ['query_metrics', { metrics: ['orders.revenue'], dimensions: ['orders.buyer.name'], limit: 5 }],
  ['query_metrics', { metrics: ['orders.revenue'], dry_run: true }],
  ['run_sql', { sql: 'SELECT name FROM customers ORDER BY id LIMIT 3' }],
  ['remember', { status_of: 'no-note' }],
  ['review_status', {}],
] as const;

describe.each(engines)('the server over stdio on %s', (engine) => {
  let shop: Shop;
  let served: Served;

  beforeAll(async () => {
    shop = await openShop(engine);
    served = await serve(shop);
  });

  afterAll(async () => {
    await served.client.close();
    expect(served.stderr()).toBe('');
    shop.remove();
  });

  it('lists the tools, and answers a call of each within its output schema', async () => {
    const { tools } = await served.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'search_context',
      'find_values',
      'read_context',
      'query_metrics',
      'run_sql',
      'remember',
      'ingest',
      'review_status',
    ]);
    const writing = tools
      .filter(({ annotations }) => annotations?.readOnlyHint !== true)
      .map(({ name }) => name);
    expect(writing).toEqual(['remember', 'ingest']);
    for (const [name, args] of calls) {
      const { text, isError, structured } = await served.call(name, args);
      expect(isError, text).toBe(false);
      expect(text).toMatch(/<untrusted-(\w+) [^>]*>\n[^]*\n<\/untrusted-\1>/);
      // A text stands once; what is data is there for programs, too.
      const isData = tools.find((tool) => tool.name === name)?.outputSchema !== undefined;
      expect(structured !== undefined, name).toBe(isData);
      if (!isData) continue;
      expect(text).toContain(structured?.untrusted.begin);
      expect(text).toContain(structured?.untrusted.end);
    }
    const data = tools.filter(({ outputSchema }) => outputSchema !== undefined);
    expect(data.map(({ name }) => name)).toEqual([
      'search_context',
      'find_values',
      'query_metrics',
      'run_sql',
    ]);
  });

  it('answers a metric with rows, receipt and where it comes from', async () => {
    const query = {
      metrics: ['orders.revenue'],
      dimensions: ['orders.buyer.region'],
      order_by: [{ field: 'orders.buyer.region' }],
    };
    const { structured } = await served.call('query_metrics', query);
    expect(structured.untrusted['rows']).toEqual([
      ['EU', 800],
      ['US', 800],
      [null, 200],
    ]);
    expect(structured.trust).toMatchObject({
      status: 'curated',
      files: ['semantic-layer/shop/customers.yaml', 'semantic-layer/shop/orders.yaml'],
    });
    expect(structured.trust.commit).toMatch(/^[0-9a-f]{40}$/);
    expect(structured.untrusted['receipt']).toMatchObject({
      metrics: [{ name: 'orders.revenue', additive: true, curated: true }],
    });
    const adHoc = await served.call('query_metrics', { metrics: ['max(orders.amount)'] });
    expect(adHoc.structured.trust.status).toBe('ad_hoc');
    expect((await served.call('run_sql', { sql: 'SELECT 1' })).structured.trust.status).toBe(
      'ad_hoc',
    );
  });

  it('keeps what rows, descriptions and errors say inside one block that they cannot end', async () => {
    const answers = [
      await served.call('run_sql', { sql: 'SELECT name FROM customers' }),
      await served.call('query_metrics', {
        metrics: ['orders.order_count'],
        dimensions: ['orders.buyer.name'],
      }),
      await served.call('read_context', { name: 'orders' }),
      await served.call('search_context', { text: 'order' }),
      await served.call('run_sql', { sql: 'SELECT CAST(name AS INTEGER) FROM customers' }),
      await served.call('query_metrics', { metrics: [`orders.${hostile}`] }),
      await served.call('read_context', { name: hostile }),
    ];
    for (const { text } of answers) expect(outside(text)).not.toMatch(/SYSTEM|DROP|000000000000/);
    const marks = answers.map(({ text }) => /<untrusted-(\w+)/.exec(text)?.[1]);
    expect(new Set(marks).size).toBe(answers.length);
    const [rows] = answers;
    expect(JSON.stringify({ ...rows?.structured, untrusted: undefined })).not.toContain('SYSTEM');
    expect(Object.keys(rows?.structured.untrusted ?? {}).at(0)).toBe('begin');
    expect(Object.keys(rows?.structured.untrusted ?? {}).at(-1)).toBe('end');
  });

  it('leaves the canary alone, whatever an argument carries', async () => {
    const before = await shop.canary();
    const { reject } = hostileCorpus.dialects[engine];
    for (const attack of reject.filter((_, at) => hasSlowCases || at % 8 === 0)) {
      const [refused, ...others] = await Promise.all([
        served.call('run_sql', { sql: attack }),
        served.call('query_metrics', { metrics: ['orders.revenue'], where: [attack] }),
        served.call('query_metrics', { metrics: [{ name: 'x', expr: attack }] }),
      ]);
      expect(refused.isError, attack).toBe(true);
      for (const { text } of [refused, ...others]) expect(text).not.toContain('Error internal');
    }
    const attacks = [
      "paid'; DROP TABLE canary; --",
      '1 = 1) ; DELETE FROM canary; SELECT (1',
      'x") FROM canary; DELETE FROM canary --',
    ];
    for (const attack of attacks) {
      const parts = [
        { where: [`orders.status = '${attack}`] },
        { where: [attack] },
        { having: [attack] },
        { dimensions: [attack] },
        { segments: [attack] },
        { where: [{ field: 'orders.status', op: '=', value: attack }] },
        { where: [{ field: attack, op: '=', value: 1 }] },
        { order_by: [{ field: attack }] },
        { timezone: attack },
        { connection: attack },
        { metrics: [attack] },
        { metrics: [{ name: attack, expr: 'sum(orders.amount)' }] },
        { metrics: [{ name: 'x', expr: attack }] },
      ];
      const results = await Promise.all([
        ...parts.map((part) =>
          served.call('query_metrics', { metrics: ['orders.revenue'], ...part }),
        ),
        served.call('run_sql', { sql: attack }),
        served.call('read_context', { name: attack }),
        served.call('search_context', { text: attack }),
      ]);
      for (const { text } of results) expect(text).not.toContain('Error internal');
    }
    expect(await shop.canary()).toBe(before);
  });

  it('answers ten calls at once', async () => {
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, id) =>
        served.call('run_sql', { sql: `SELECT amount FROM orders WHERE id = ${id}` }),
      ),
    );
    expect(results.map(({ structured }) => structured.untrusted['rows'])).toEqual(
      Array.from({ length: 10 }, (_, id) => [[id]]),
    );
  });

  it('cancels the query in the warehouse when the client cancels the call', async () => {
    const abort = new AbortController();
    const cancelled = served.call('run_sql', { sql: shop.endless }, { signal: abort.signal });
    const running = `SELECT query FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%e.amount = 7%' AND pid <> pg_backend_pid()`;
    if (engine === 'postgres') {
      await vi.waitFor(
        async () => expect(await runPostgres(shop.env['SHOP_URL'] ?? '', running)).toHaveLength(1),
        10_000,
      );
    } else await served.call('search_context', { text: 'orders' });
    abort.abort();
    await expect(cancelled).rejects.toThrow();
    await vi.waitFor(
      () => expect(lastRecords(shop).some(({ error }) => error?.code === 'cancelled')).toBe(true),
      10_000,
    );
    if (engine === 'postgres')
      expect(await runPostgres(shop.env['SHOP_URL'] ?? '', running)).toEqual([]);
    expect(
      (await served.call('run_sql', { sql: 'SELECT 2 AS two' })).structured.untrusted['rows'],
    ).toEqual([[2]]);
  });
});

function lastRecords(shop: Shop): { tool: string; error?: { code: string } }[] {
  const lines = readFileSync(join(shop.dir, '.ktx/logs/tools.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as { tool: string; error?: { code: string } });
}

describe('the protocol', () => {
  let shop: Shop;
  let served: Served;

  beforeAll(async () => {
    shop = await openShop('sqlite');
    served = await serve(shop);
  });

  afterAll(async () => {
    await served.client.close();
    shop.remove();
  });

  it('serves the current protocol from the same tools', async () => {
    const modern = await serve(shop, 'auto');
    try {
      expect(modern.client.getProtocolEra()).toBe('modern');
      const { tools } = await modern.client.listTools();
      expect((await served.client.listTools()).tools).toEqual(tools);
      for (const [name, args] of calls) expect((await modern.call(name, args)).isError).toBe(false);
    } finally {
      await modern.client.close();
    }
  });

  it.each(Object.entries(tokenizers))(
    'lists its tools within 1,400 tokens, as %s counts them',
    async (_, count) => {
      const { tools } = await served.client.listTools();
      const read = tools.map(({ name, description, inputSchema }) =>
        JSON.stringify({ name, description, inputSchema }),
      );
      const tokens = read.map(count).reduce((sum, each) => sum + each, 0);
      expect(tokens).toBeLessThanOrEqual(1400);
    },
  );

  it('continues a long answer without losing or repeating anything, within the size that was asked for', async () => {
    const args = { sql: 'SELECT id, customer_id FROM orders ORDER BY id', max_tokens: 1000 };
    const ids: unknown[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const { text, structured } = await served.call(
        'run_sql',
        cursor === undefined ? args : { ...args, cursor },
      );
      expect(text.length + JSON.stringify(structured).length).toBeLessThanOrEqual(3000);
      ids.push(...(structured.untrusted['rows'] as [number, number][]).map(([id]) => id));
      cursor = structured.page.next_cursor;
      expect(structured.page.truncated).toBe(cursor !== undefined);
      pages += 1;
    } while (cursor !== undefined);
    expect(pages).toBeGreaterThan(5);
    expect(ids).toEqual(Array.from({ length: 900 }, (_, id) => id));
    const gone = await served.call('run_sql', { ...args, cursor: 'q_none.1.0' });
    expect([gone.isError, gone.text]).toEqual([
      true,
      expect.stringContaining('Error cursor_expired'),
    ]);
  });

  it('lists and reads datasets as resources, and nothing else', async () => {
    const { resources } = await served.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      'ktx://dataset/shop/customers',
      'ktx://dataset/shop/orders',
    ]);
    expect((await served.client.listResourceTemplates()).resourceTemplates[0]?.uriTemplate).toBe(
      'ktx://dataset/{connection}/{name}',
    );
    const { contents } = await served.client.readResource({ uri: 'ktx://dataset/shop/orders' });
    expect(JSON.stringify(contents)).toContain('name: revenue');
    expect(JSON.stringify(contents)).not.toContain('margin_secret');
    expect(JSON.stringify(contents)).toMatch(/# <untrusted-(\w+) .*# <\/untrusted-\1>/);
    for (const uri of [
      'ktx://dataset/shop/..%2f..%2fktx',
      'ktx://dataset/../ktx',
      'ktx://dataset/shop/none',
      'file:///etc/passwd',
    ]) {
      await expect(served.client.readResource({ uri })).rejects.toThrow();
    }
  });

  it('lists more datasets than a page holds without losing or repeating any', async () => {
    const many = await openShop('sqlite');
    const names = Array.from({ length: 450 }, (_, id) => `copy_${String(id).padStart(3, '0')}`);
    for (const name of names) {
      const text = `dataset: ${name}\nsource: orders\nfields:\n  - {name: id, type: integer}\n`;
      writeFileSync(join(many.dir, `semantic-layer/shop/${name}.yaml`), text);
    }
    const { client } = await serve(many);
    const list = (cursor?: string) =>
      client.request({ method: 'resources/list', params: cursor === undefined ? {} : { cursor } });
    try {
      const pages = [await list()];
      while (pages.at(-1)?.nextCursor !== undefined)
        pages.push(await list(pages.at(-1)?.nextCursor));
      expect(pages.map(({ resources }) => resources.length)).toEqual([200, 200, 52]);
      const uris = pages.flatMap(({ resources }) => resources).map(({ uri }) => uri);
      expect(uris).toEqual(
        [...names, 'customers', 'orders'].map((name) => `ktx://dataset/shop/${name}`),
      );
      await expect(list('!')).rejects.toThrow('cursor');
    } finally {
      await client.close();
      many.remove();
    }
  });

  it('offers the commonest tasks as prompts, and completes the names of metrics', async () => {
    const { client } = served;
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      'answer',
      'explain_metric',
      'compare_periods',
      'explain_change',
      'review',
    ]);
    for (const { name, arguments: args = [] } of prompts) {
      const given = Object.fromEntries(args.map((argument) => [argument.name, `my ${name}`]));
      const { messages } = await client.getPrompt({ name, arguments: given });
      expect(JSON.stringify(messages)).toContain(`my ${name}`);
    }
    const { messages } = await client.getPrompt({ name: 'review' });
    expect(JSON.stringify(messages)).not.toContain('undefined');
    const wrong = [
      ['answer', {}, 'answer needs question'],
      ['answer', { question: 'x'.repeat(2001) }, '2000 characters'],
      ['constructor', {}, 'There are answer, explain_metric'],
    ] as const;
    for (const [name, args, message] of wrong)
      await expect(client.getPrompt({ name, arguments: args })).rejects.toThrow(message);
    const complete = async (argument: string, value: string) =>
      (
        await client.complete({
          ref: { type: 'ref/prompt', name: 'explain_metric' },
          argument: { name: argument, value },
        })
      ).completion.values;
    expect(await complete('metric', 'REV')).toEqual(['orders.revenue']);
    expect(await complete('__proto__', '')).toEqual([]);
  });

  it('tells a client that asks for progress that a long call is alive', async () => {
    const abort = new AbortController();
    const told: unknown[] = [];
    const onprogress = (progress: { progress: number }) =>
      told.push(progress.progress) === 2 ? abort.abort() : undefined;
    await expect(
      served.call('run_sql', { sql: shop.endless }, { signal: abort.signal, onprogress }),
    ).rejects.toThrow();
    expect(told).toEqual([1, 2]);
  });

  it('says what is wrong with a call, in the result', async () => {
    const cases = [
      ['query_metrics', { metric: ['orders.revenue'] }, /invalid_input[^]*did you mean metrics/],
      ['query_metrics', { metrics: 'orders.revenue' }, /invalid_input[^]*metrics: /],
      ['query_metrics', { metrics: ['orders.revenu'] }, /orders\.revenue/],
      ['run_sql', {}, /invalid_input[^]*sql: /],
      ['run_sql', { sql: 'SELEC 1' }, /Error /],
      ['run_sql', { sql: 'SELECT 1', connection: 'shp' }, /connection_unknown[^]*shop/],
      ['run_sql', { sql: 'SELECT 1', max_tokens: 1 }, /invalid_input[^]*max_tokens/],
      ['read_context', { name: 'ordrs' }, /not_found[^]*orders/],
      ['search_context', { text: 'x', limit: 'many' }, /invalid_input[^]*limit/],
    ] as const;
    for (const [name, args, expected] of cases) {
      const { text, isError } = await served.call(name, args);
      expect([isError, text]).toEqual([true, expect.stringMatching(expected)]);
      expect(text).not.toMatch(/\n\s+at /);
    }
    await expect(served.call('no_such_tool', {})).rejects.toThrow('no_such_tool');
  });

  it.each(['stdin', 'SIGTERM'] as const)(
    'ends by itself on %s, a query under way or not, with nothing but the protocol on stdout',
    async (how) => {
      const server = spawn(process.execPath, [main, 'mcp', 'serve', '--project-dir', shop.dir]);
      let out = '';
      server.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      const say = (message: object) =>
        server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      const clientInfo = { name: 'test', version: '1' };
      say({
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
      });
      say({ method: 'notifications/initialized' });
      say({
        id: 2,
        method: 'tools/call',
        params: { name: 'run_sql', arguments: { sql: 'SELECT 1' } },
      });
      await vi.waitFor(() => expect(out).toContain('"id":2'), 20_000);
      say({
        id: 3,
        method: 'tools/call',
        params: { name: 'run_sql', arguments: { sql: shop.endless } },
      });
      say({ id: 4, method: 'ping' });
      await vi.waitFor(() => expect(out).toContain('"id":4'), 20_000);
      const exited = once(server, 'exit');
      if (how === 'stdin') server.stdin.end();
      else server.kill('SIGTERM');
      const [code, signal] = (await exited) as [number | null, string | null];
      expect([signal, code]).toEqual([null, how === 'stdin' ? 0 : expect.any(Number)]);
      for (const line of out.trimEnd().split('\n'))
        expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
    },
  );

  it('records each call where only the owner can read it', () => {
    const records = lastRecords(shop);
    expect(new Set(records.map(({ tool }) => tool))).toEqual(
      new Set([
        'search_context',
        'find_values',
        'read_context',
        'query_metrics',
        'run_sql',
        'remember',
        'review_status',
      ]),
    );
    expect(statSync(join(shop.dir, '.ktx/logs/tools.jsonl')).mode & 0o777).toBe(0o600);
  });
});
