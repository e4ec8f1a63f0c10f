import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { array, assert, json, nat, property } from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ensureStateDirectory } from '../../src/store/directories.ts';
import { ingestProject } from '../../src/project/learn/ingest.ts';
import { openProject } from '../../src/project/open/open.ts';
import type { Project } from '../../src/project/open/open.ts';
import { cutPage, type PagePosition } from '../../src/tools/answers/page.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import { hintForAgent } from '../../src/tools/answers/agent-hint.ts';
import { partsOfAnswer } from '../support/answer-parts.ts';

describe('a page', () => {
  it('loses and repeats nothing, whatever the items and the room', () => {
    assert(
      property(array(json(), { maxLength: 12 }), nat(900), (items, room) => {
        let from: PagePosition | undefined = { index: 0, character: 0 };
        const whole: string[] = [];
        let piece = '';
        while (from !== undefined) {
          const page = cutPage(items, from, room);
          whole.push(...page.items.map((item) => JSON.stringify(item)));
          piece += page.partial?.json ?? '';
          if (
            page.partial !== undefined &&
            page.partial.from + page.partial.json.length === page.partial.of
          ) {
            whole.push(piece);
            piece = '';
          }
          expect(page.next).not.toEqual(from);
          from = page.next;
        }
        expect(whole).toEqual(items.map((item) => JSON.stringify(item)));
      }),
    );
  });
});

describe('the tools of a project', () => {
  let dir = '';
  let project: Project;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'ktx-tools-'));
    const db = new DatabaseSync(join(dir, 'shop.db'));
    db.exec(`CREATE TABLE orders (id INTEGER PRIMARY KEY, amount INTEGER, note TEXT);
      INSERT INTO orders VALUES (1, 5, NULL), (2, 7, '${'long '.repeat(4000)}'), (3, 9, 'x');`);
    db.close();
  });

  afterEach(async () => {
    await project.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function open(config = ''): Promise<ReturnType<ReturnType<typeof openToolbox>['tools']>> {
    writeFileSync(
      join(dir, 'ktx.yaml'),
      `connections:\n  shop: {driver: sqlite, path: shop.db}\n${config}`,
    );
    project = await openProject(dir);
    return openToolbox(project).tools(new AbortController().signal);
  }

  it('finds a saved query by its words, reads it and runs it, with changes', async () => {
    mkdirSync(join(dir, 'semantic-layer/shop/queries'), { recursive: true });
    writeFileSync(
      join(dir, 'semantic-layer/shop/orders.yaml'),
      'dataset: orders\nsource: orders\nprimary_key: [id]\nfields: [{name: id, type: integer}, {name: amount, type: integer}]\nmetrics: [{name: total, agg: sum, of: amount}]\n',
    );
    writeFileSync(
      join(dir, 'semantic-layer/shop/queries/takings.yaml'),
      'query: takings\ndescription: What the till took.\nmetrics: [orders.total]\nwhere: [orders.id > 1]\n',
    );
    const tools = await open();
    const callTool = async (name: string, input: object) =>
      (await tools.find((tool) => tool.name === name)?.execute(input))?.markdown;
    expect(await callTool('search_context', { text: 'till took' })).toContain('query:shop.takings');
    expect(await callTool('read_context', { name: 'query:shop.takings' })).toContain(
      'orders.id > 1',
    );
    for (const saved of ['takings', 'query:shop.takings'])
      expect(await callTool('query_metrics', { saved })).toContain('16');
    const changed = { saved: 'takings', where: ['orders.id < 3'] };
    expect(await callTool('query_metrics', changed)).toMatch(/\b7\b/);
    expect(await callTool('query_metrics', { saved: 'takins' })).toContain('Did you mean takings?');
  });

  it('lets query_metrics reach nothing that the model hides', async () => {
    mkdirSync(join(dir, 'semantic-layer/shop'), { recursive: true });
    const dataset =
      'dataset: orders\nsource: orders\nprimary_key: [id]\nfields: [{name: id, type: integer}, {name: amount, type: integer}, {name: note, hidden: true}]\nmetrics: [{name: total, agg: sum, of: amount}, {name: longest, agg: max, of: note, hidden: true}]\n';
    writeFileSync(join(dir, 'semantic-layer/shop/orders.yaml'), dataset);
    const ask = (await open()).find(({ name }) => name === 'query_metrics');
    const asked = (input: object) => ask?.execute({ metrics: ['orders.total'], ...input });
    expect((await asked({ where: ['orders.amount > 5'] }))?.markdown).toContain('16');
    for (const hostile of [
      "note = 'x'",
      'orders.note',
      'orders."NOTE"',
      'longest',
      'orders.longest',
      'max(orders.note)',
      '(select note from orders)',
      "amount' --",
      'desc; drop table orders',
      'rowid',
      "readfile('shop.db')",
    ]) {
      for (const input of [
        { metrics: [hostile] },
        { metrics: [{ name: 'x', expr: hostile }] },
        { metrics: [{ name: hostile, expr: 'orders.note' }] },
        { dimensions: [hostile] },
        { dimensions: [`orders.id.${hostile}`] },
        { where: [hostile] },
        { where: [{ on: hostile, where: 'orders.amount > 1' }] },
        { where: [{ on: 'orders', where: hostile }] },
        { where: [{ field: hostile, op: '=', value: 'x' }] },
        { where: [{ field: 'orders.amount', op: hostile, value: 1 }] },
        { having: [hostile] },
        { segments: [hostile] },
        { order_by: [{ field: hostile }] },
        { order_by: [{ field: 'orders.total', dir: hostile }] },
        { timezone: hostile },
        { week_start: hostile },
        { limit: hostile },
        { connection: hostile },
      ]) {
        const answer = await asked(input);
        expect({ input, failed: answer?.error !== undefined }).toEqual({ input, failed: true });
        expect(answer?.markdown).not.toContain('long long');
      }
    }
  });

  /** Over the project after an ingest of two tables that declare how they join by name only. */
  async function openIngested(): Promise<Awaited<ReturnType<typeof open>>> {
    const db = new DatabaseSync(join(dir, 'shop.db'));
    db.exec(
      'CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT); ALTER TABLE orders ADD COLUMN customer_id INTEGER; BEGIN',
    );
    const customer = db.prepare('INSERT INTO customers VALUES (?, ?)');
    const order = db.prepare('INSERT INTO orders (amount, note, customer_id) VALUES (?, ?, ?)');
    for (let id = 1; id <= 300; id += 1) customer.run(id, `person${id}@example.com`);
    for (let id = 1; id <= 900; id += 1) order.run(id % 97, `said ${id}`, ((id * 7) % 300) + 1);
    db.exec('COMMIT');
    db.close();
    const tools = await open();
    const { connections } = await ingestProject(project, {
      connections: [],
      signal: new AbortController().signal,
    });
    expect(connections[0]?.failure).toBeUndefined();
    return tools;
  }

  async function call(tools: Awaited<ReturnType<typeof open>>, name: string, input: unknown) {
    const result = await tools.find((tool) => tool.name === name)?.execute(input);
    if (result === undefined) throw new Error(`no tool ${name}`);
    return result;
  }

  function writeDataset(description: string): void {
    mkdirSync(join(dir, 'semantic-layer/shop'), { recursive: true });
    const fields = 'fields: [{name: id, type: integer}, {name: note, type: string, hidden: true}]';
    const text = `dataset: orders\nsource: orders\ndescription: ${description}\n${fields}\nmetrics: [{name: n, agg: count}]\n`;
    writeFileSync(join(dir, 'semantic-layer/shop/orders.yaml'), text);
  }

  it('cuts a cell that is larger than an answer, and hands it out whole', async () => {
    const tools = await open();
    const args = { sql: 'SELECT note FROM orders WHERE id = 2', max_tokens: 800 };
    const pieces: string[] = [];
    let cursor: string | undefined;
    do {
      const { structured, markdown } = await call(tools, 'run_sql', { ...args, cursor });
      expect(structured?.untrusted, markdown).toMatchObject({
        rows: [],
        partial: { item: 0, from: pieces.join('').length },
      });
      pieces.push(
        z.object({ partial: z.object({ json: z.string() }) }).parse(structured?.untrusted).partial
          .json,
      );
      cursor = structured?.page.next_cursor;
    } while (cursor !== undefined);
    expect(pieces.length).toBeGreaterThan(10);
    expect(JSON.parse(pieces.join(''))).toEqual(['long '.repeat(4000)]);
  });

  it('says so when the warehouse has more rows than the project lets through', async () => {
    const tools = await open('query: {max_rows: 2}\n');
    const { markdown, structured } = await call(tools, 'run_sql', {
      sql: 'SELECT id FROM orders ORDER BY id',
    });
    expect(structured?.page).toMatchObject({
      truncated: true,
      returned: 2,
      incomplete: expect.stringContaining('max_rows'),
    });
    expect(markdown).toMatch(/Truncated: .*max_rows/);
  });

  it('fails in its result where the call cannot be recorded', async () => {
    const tools = await open();
    ensureStateDirectory(dir);
    mkdirSync(join(dir, '.ktx/logs/tools.jsonl'), { recursive: true });
    const { error, markdown } = await call(tools, 'run_sql', { sql: 'SELECT 1' });
    expect(error).toMatchObject({ code: 'file_not_accessible', hint: expect.any(String) });
    expect(markdown).toContain('tools.jsonl');
  });

  it('warns where the semantic layer knows better, and says how to ask it', async () => {
    const tools = await open();
    mkdirSync(join(dir, 'semantic-layer/shop'), { recursive: true });
    const dataset =
      'dataset: orders\nsource: orders\nfields: [{name: note}]\nmetrics: [{name: revenue, agg: sum, of: amount, where: amount > 5}]\n';
    writeFileSync(join(dir, 'semantic-layer/shop/orders.yaml'), dataset);
    const warned = await call(tools, 'run_sql', { sql: 'SELECT sum(amount) FROM orders' });
    expect(warned.markdown).toContain('Likely wrong: see warnings.');
    expect(warned.structured?.untrusted).toMatchObject({
      rows: [[21]],
      warnings: [expect.stringContaining('sum(orders.amount) has no amount > 5')],
    });
    // The metric would answer another question, so it is not proposed.
    expect(warned.structured?.untrusted).not.toHaveProperty('query_metrics');
    const fine = await call(tools, 'run_sql', {
      sql: 'SELECT sum(amount) FROM orders WHERE amount > 5',
    });
    expect(fine.structured?.untrusted).not.toHaveProperty('warnings');
    expect(fine.markdown).not.toContain('Likely wrong');
  });

  it('keeps run_sql away where the configuration says so', async () => {
    const offered = (await open('query: {run_sql: off}\n')).map(({ name }) => name);
    expect(offered).toEqual([
      'search_context',
      'find_values',
      'read_context',
      'query_metrics',
      'remember',
      'ingest',
      'review_status',
    ]);
    await project.close();
    const { error } = await call(await open('query: {run_sql: semantic_layer_only}\n'), 'run_sql', {
      sql: 'SELECT 1',
    });
    expect(error).toMatchObject({
      code: 'sql_not_allowed',
      hint: expect.stringContaining('query_metrics'),
    });
  });

  it('finds what the files say now, and nothing that is hidden', async () => {
    const tools = await open();
    writeDataset('Harvests');
    expect((await call(tools, 'search_context', { text: 'harvests' })).markdown).toContain(
      '"name":"orders"',
    );
    writeDataset('Deliveries of all the goods');
    expect((await call(tools, 'search_context', { text: 'harvests' })).markdown).toContain(
      'Nothing found',
    );
    expect((await call(tools, 'search_context', { text: 'deliveries' })).markdown).toContain(
      '"name":"orders"',
    );
    expect((await call(tools, 'search_context', { text: 'note' })).markdown).not.toContain(
      'orders.note',
    );
    expect(
      (await call(tools, 'query_metrics', { dimensions: ['orders.note'], metrics: ['orders.n'] }))
        .error?.code,
    ).not.toBe('internal');
  });

  it('shows the evidence that an ingest found, and of a field where it is asked for', async () => {
    const tools = await openIngested();
    const { markdown } = await call(tools, 'read_context', { name: 'orders' });
    expect(partsOfAnswer(markdown).trust).toMatchObject({
      status: 'curated',
      files: ['semantic-layer/shop/orders.yaml'],
    });
    expect(markdown).toContain('- {name: note, type: string}');
    expect(markdown).toContain('- {to: customers, on: {customer_id: id}}');
    expect(markdown).toMatch(/^dataset:shop\.orders primary_key \["id"\]: .*"origin":"catalog"/m);
    expect(markdown).toMatch(
      /^relationship:shop\.orders\(customer_id\) relationship .*"to":"customers".*"extractor":"relationships@\d/m,
    );
    expect(markdown).not.toContain('field:shop.orders.note');
    expect((await call(tools, 'read_context', { name: 'orders.note' })).markdown).toMatch(
      /^field:shop\.orders\.note type "string": /m,
    );
    expect(
      (await call(tools, 'read_context', { name: 'field:shop.orders.note' })).markdown,
    ).toContain('field:shop.orders.note type');
    expect((await call(tools, 'read_context', {})).markdown).toContain(
      '{"dataset":"orders","metrics":["count","total_amount"],"refers_to":["customers"]}',
    );
  });

  it('reads one metric with what it uses, and nothing of the others', async () => {
    const tools = await openIngested();
    const { markdown } = await call(tools, 'read_context', { name: 'orders.total_amount' });
    expect(markdown).toContain('orders.total_amount of shop. read_context orders has the rest.');
    expect(partsOfAnswer(markdown).untrusted.text.split('\n').slice(2, 8)).toEqual([
      'primary_key:',
      '  - id',
      'fields:',
      '  - {name: amount, type: integer}',
      'metrics:',
      expect.stringMatching(/^ {2}- \{name: total_amount,/),
    ]);
    expect(markdown).not.toMatch(/name: (note|count)|relationship/);
    const whole = await call(tools, 'read_context', { name: 'orders.no_such_part' });
    expect(whole.markdown).toMatch(/^Dataset orders of shop\. It has no part of the name/);
    expect(whole.markdown).toContain('name: note');
  });

  it('names tools in hints, and says which commands only a person runs', () => {
    expect(hintForAgent('`ktx search` lists tables; ktx sl read shows a dataset.')).toBe(
      'search_context lists tables; read_context shows a dataset.',
    );
    expect(hintForAgent('ktx sl validate')).toBe(
      'ktx sl validate (Only a person runs commands of ktx.)',
    );
  });

  it('says what a metric can be grouped by, where it is asked for', async () => {
    const tools = await openIngested();
    const groupings = /^# orders\.count can be grouped by: .*orders\.note.*customers\./m;
    const ofMetric = await call(tools, 'read_context', { name: 'metric:shop.orders.count' });
    expect(ofMetric.markdown).toMatch(groupings);
    expect((await call(tools, 'read_context', { name: 'orders' })).markdown).not.toMatch(groupings);
  });

  it('shows nothing of what is hidden, by whatever name it is asked for', async () => {
    const tools = await openIngested();
    const path = join(dir, 'semantic-layer/shop/orders.yaml');
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text
        .replace('{name: note,', '{name: note, hidden: true,')
        .replace('{name: count,', '{name: count, hidden: true,'),
    );
    const names = [
      'orders',
      'ORDERS',
      'orders.note',
      'orders.count',
      'field:shop.orders.note',
      'main.orders',
      'Main.Orders',
    ];
    const answers = await Promise.all(names.map((name) => call(tools, 'read_context', { name })));
    const found = await Promise.all(
      ['note', 'orders'].map((words) => call(tools, 'search_context', { text: words })),
    );
    for (const { markdown } of answers) expect(markdown).toContain('2 hidden, left out');
    for (const { markdown } of [...answers, ...found])
      expect(markdown).not.toMatch(/Error|note|orders\.count|name: count/);
    expect((await call(tools, 'read_context', {})).markdown).toContain(
      '{"dataset":"orders","metrics":["total_amount"],',
    );
  });

  it('records what was asked and what came of it', async () => {
    const tools = await open();
    await call(tools, 'run_sql', { sql: 'SELECT 1' });
    await call(tools, 'run_sql', { sql: 'DELETE FROM orders' });
    const lines = readFileSync(join(dir, '.ktx/logs/tools.jsonl'), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      {
        run: project.runId,
        tool: 'run_sql',
        input: { sql: 'SELECT 1' },
        query: expect.stringMatching(/^q_/),
        page: { truncated: false },
      },
      {
        run: project.runId,
        tool: 'run_sql',
        input: { sql: 'DELETE FROM orders' },
        error: { code: 'gate_refused' },
      },
    ]);
  });

  it('ends a call that is cancelled before it starts', async () => {
    await open();
    const abort = new AbortController();
    abort.abort();
    const [search] = openToolbox(project).tools(abort.signal);
    expect((await search?.execute({ text: 'x' }))?.error).toMatchObject({
      code: 'cancelled',
      retryable: true,
    });
  });
});
