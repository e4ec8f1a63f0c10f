import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { folder, ktx, shopDatabase } from '../cli/run-cli.ts';
import { write } from '../store/git-project.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** A host that a cloned project names: counts who connects. */
let connections = 0;
const host = createServer((socket) => {
  connections += 1;
  socket.on('error', () => undefined).destroy();
});

beforeAll(() => new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve)));
afterAll(() => host.close());

test('the server starts without an approval, lists its tools, and needs no restart after one', async () => {
  const cwd = folder();
  const outside = folder();
  shopDatabase(join(outside, 'shop.db'));
  const { port } = host.address() as AddressInfo;
  write(
    cwd,
    'ktx.yaml',
    `connections:\n  shop: {driver: sqlite, path: ${outside}/shop.db}\n  wh: {driver: postgres, host: 127.0.0.1, port: ${port}, database: d, password: env:OWN_SECRET}\n`,
  );
  write(
    cwd,
    'semantic-layer/shop/orders.yaml',
    'dataset: orders\nsource: orders\nprimary_key: [id]\nfields: [{name: id, type: integer}, {name: amount, type: integer}]\nmetrics: [{name: total, agg: sum, of: amount}]\n',
  );
  const env = { ...process.env, XDG_CONFIG_HOME: folder(), OWN_SECRET: 'hunter2' };
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [main, 'mcp', 'serve', '--project-dir', cwd],
      env,
      stderr: 'ignore',
    }),
  );
  const call = async (name: string, args: Record<string, unknown>) => {
    const { content, isError = false } = await client.callTool({ name, arguments: args });
    return { isError, text: JSON.stringify(content) };
  };
  const sql = { connection: 'shop', sql: 'SELECT count(*) AS n FROM orders' };
  try {
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    for (const [name, args] of [
      ['read_context', { connection: 'shop', name: 'orders' }],
      ['search_context', { text: 'orders' }],
      ['query_metrics', { connection: 'shop', metrics: ['orders.total'], dry_run: true }],
      ['review_status', {}],
    ] as const)
      expect(await call(name, args), name).toMatchObject({ isError: false });
    for (const [name, args] of [
      ['run_sql', sql],
      ['run_sql', { ...sql, connection: 'wh' }],
      ['query_metrics', { connection: 'shop', metrics: ['orders.total'] }],
    ] as const) {
      const { isError, text } = await call(name, args);
      expect({ name, isError }).toEqual({ name, isError: true });
      expect(text).toContain('trust_required');
      expect(text).toContain(`ktx trust --project-dir ${cwd}`);
      expect(text).not.toContain('hunter2');
    }
    const ingested = await call('ingest', { wait: 20 });
    expect(ingested.text).toContain('trust_required');
    expect(connections).toBe(0);
    expect(existsSync(join(cwd, 'sources'))).toBe(false);

    const person = { cwd, env: { XDG_CONFIG_HOME: env.XDG_CONFIG_HOME }, approved: false };
    expect((await ktx(['trust', '--yes'], person)).code).toBe(0);
    expect(await call('run_sql', sql)).toMatchObject({ isError: false });
    await call('run_sql', { ...sql, connection: 'wh' });
    expect(connections).toBeGreaterThan(0);

    expect((await ktx(['trust', '--revoke'], person)).code).toBe(0);
    expect((await call('run_sql', sql)).text).toContain('trust_required');
  } finally {
    await client.close();
  }
});
