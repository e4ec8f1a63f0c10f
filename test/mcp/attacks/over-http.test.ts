import { globSync, readFileSync } from 'node:fs';
import { connect as openSocket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, serveRegions } from '../http-shop.ts';
import { outside } from './from-outside.ts';
import { callTool, message, request, revenue, type Tokens } from './raw-request.ts';

type Served = Awaited<ReturnType<typeof serveRegions>>;

let served: Served;
let tokens: Tokens;

beforeAll(async () => {
  served = await serveRegions();
  const make = async (name: string, scopes: ('read' | 'query')[]) => {
    const role = name === 'us' ? 'us' : 'dach';
    return (await served.tokens.create({ name, role, scopes })).text;
  };
  tokens = {
    dach: await make('dach', ['read', 'query']),
    us: await make('us', ['read', 'query']),
    reader: await make('reader', ['read']),
  };
});

afterAll(() => served[Symbol.asyncDispose]());

/** Sends bytes, and returns what the server sends until it closes the connection. */
function exchange(bytes: Buffer): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = '';
  const socket = openSocket(Number(new URL(served.url).port), '127.0.0.1', () => {
    socket.write(bytes);
  });
  socket.on('data', (piece) => (text += piece.toString('latin1')));
  socket.on('error', () => resolve(text));
  socket.on('close', () => resolve(text));
  return promise;
}

const sql = (text: string) => callTool('run_sql', { sql: text });

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);

/** Calls of somebody who may see the rows of the role us, with what their answers must say. */
const inside: readonly (readonly [name: string, body: string, says: RegExp])[] = [
  ['a table with row rules', sql('SELECT region FROM orders'), /row_rules/],
  ['a table with row rules in capitals', sql('SELECT region FROM ORDERS'), /row_rules/],
  ['a table with row rules in quotes', sql('SELECT region FROM "orders"'), /row_rules/],
  ['a table with row rules of a schema', sql('SELECT region FROM main.orders'), /row_rules/],
  [
    'a table with row rules in a subquery',
    sql('SELECT (SELECT max(region) FROM orders)'),
    /row_rules/,
  ],
  [
    'a table with row rules behind a name',
    sql('WITH c AS (SELECT * FROM orders) SELECT * FROM c'),
    /row_rules/,
  ],
  [
    'a table with row rules beside another',
    sql('SELECT * FROM cities UNION SELECT id, region FROM orders'),
    /row_rules/,
  ],
  ['two statements', sql('SELECT 1; SELECT region FROM orders'), /Error/],
  ['a statement that writes', sql('DELETE FROM orders'), /gate_refused/],
  ['another database', sql("ATTACH 'shop.sqlite' AS other"), /gate_refused/],
  ['the structure with its values', sql('SELECT sql FROM sqlite_master'), /Error/],
  [
    'a filter that is always true',
    callTool('query_metrics', {
      metrics: ['orders.revenue'],
      dimensions: ['orders.region'],
      where: ["orders.region = 'x' OR 1 = 1"],
    }),
    /canary-us/,
  ],
  [
    'a filter that ends early',
    callTool('query_metrics', { metrics: ['orders.revenue'], where: ['1 = 1) OR (1 = 1'] }),
    /Error/,
  ],
  [
    'a role in the arguments',
    callTool('query_metrics', { metrics: ['orders.revenue'], role: 'dach' }),
    /invalid_input/,
  ],
  [
    'a role in the prototype',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_metrics","arguments":{"metrics":["orders.revenue"],"__proto__":{"role":"dach"}}}}`,
    /500|Error/,
  ],
  ['a tool that does not exist', callTool('constructor'), /-32602/],
  ['a tool whose name is a list', callTool(['run_sql']), /-32602/],
  ['arguments that are a list', callTool('run_sql', []), /-32602|invalid_input/],
  ['a value of another role', callTool('find_values', { text: 'canary-dach' }), /Trust/],
  [
    'a search for a value of another role',
    callTool('search_context', { text: 'canary-dach' }),
    /Trust/,
  ],
  ['a dataset with its rules', callTool('read_context', { name: 'orders' }), /orders/],
  [
    'a cursor that is made up',
    callTool('query_metrics', { metrics: ['orders.revenue'], cursor: 'q_x.0.0' }),
    /cursor_expired/,
  ],
  [
    'a resource that is a path',
    message('resources/read', { uri: 'ktx://dataset/shop/../../ktx.yaml' }),
    /-32602|-32002/,
  ],
  [
    'a resource that is a file',
    message('resources/read', { uri: 'file:///etc/passwd' }),
    /-32602|-32002/,
  ],
  ['a method of clients', message('sampling/createMessage', {}), /-32601/],
];

describe('attacks on the server over HTTP', () => {
  test.for(outside)('are refused: %s', async ([, bytes, statuses]) => {
    const answer = await exchange(bytes(tokens));
    expect(statuses).toContain(statusOf(answer));
    expect(answer).not.toMatch(/canary|ktx-http|node:internal/);
  });

  test.for(inside)('show no row of another role: %s', async ([, body, says]) => {
    const answer = await exchange(request(body, { token: tokens.us }));
    expect(answer).toMatch(says);
    expect(answer).toMatch(/^connection: close\r$/im);
    const rows = answer.replaceAll('canary-dach%', '');
    // What the caller sent may come back, what the warehouse has may not.
    if (!body.includes('canary-dach')) expect(rows).not.toContain('canary-dach');
    expect(answer).not.toMatch(/\b530\b|node:internal/);
  });

  test('do not make one connection the connection of one person', async () => {
    const keep = { connection: 'keep-alive' };
    const bytes = Buffer.concat([
      request(revenue, { token: tokens.us, headers: keep }),
      request(revenue, { token: tokens.dach, headers: keep }),
      request(revenue),
    ]);
    const answers = (await exchange(bytes)).split('HTTP/1.1 ').slice(1);
    expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['200', '200', '401']);
    expect(answers[0]).toContain('canary-us');
    expect(answers[0]).not.toContain('canary-dach');
    expect(answers[1]).toContain('canary-dach');
    expect(answers[1]).not.toContain('canary-us');
  });

  test('end nothing, and leave a trace of who was refused', async () => {
    await using session = await connect(served.url, tokens.us);
    expect((await session.call('query_metrics', { metrics: ['orders.revenue'] })).text).toContain(
      '500',
    );
    const log = globSync(join(served.dir, '.ktx/logs/http*.jsonl'))
      .map((file) => readFileSync(file, 'utf8'))
      .join('');
    for (const reason of ['token_missing', 'invalid_token', 'host', 'origin'])
      expect(log).toContain(`"refused":"${reason}"`);
    for (const token of Object.values(tokens)) expect(log).not.toContain(token.slice(-64));
    expect(outside.length + inside.length).toBeGreaterThan(70);
  });
});
