import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveRegions } from './http-shop.ts';
import { openShop, type Shop } from './shop.ts';

const root = join(import.meta.dirname, '../..');
const inspector = join(
  root,
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

/**
 * The official Inspector's command line, where it is installed: `npm install --no-save
 * --ignore-scripts @modelcontextprotocol/inspector`.
 */
describe.skipIf(!existsSync(inspector))('the official Inspector', () => {
  let shop: Shop;
  let home = '';

  beforeAll(async () => {
    shop = await openShop('sqlite');
    home = mkdtempSync(join(tmpdir(), 'ktx-inspector-'));
    const args = [join(root, 'src/cli/main.ts'), 'mcp', 'serve', '--project-dir', shop.dir];
    writeFileSync(
      join(home, 'servers.json'),
      JSON.stringify({ mcpServers: { ktx: { command: process.execPath, args } } }),
    );
  });

  afterAll(() => {
    shop.remove();
    rmSync(home, { recursive: true, force: true });
  });

  const inspect = (...args: string[]) =>
    inspectServer({ config: join(home, 'servers.json'), server: 'ktx' }, ...args);

  async function inspectServer(
    { config, server }: { readonly config: string; readonly server: string },
    ...args: string[]
  ): Promise<{ stdout: string; stderr: string }> {
    const target = ['--cli', '--config', config, '--server', server];
    const env = { ...process.env, HOME: home, MCP_INSPECTOR_SECRET_STORE: 'memory' };
    return promisify(execFile)(process.execPath, [inspector, ...target, ...args], { env });
  }

  it('finds nothing wrong with the list of tools', async () => {
    const { stdout, stderr } = await inspect('--method', 'tools/list', '--strict');
    expect(
      stdout.match(/"name": "(search_context|read_context|query_metrics|run_sql)"/g),
    ).toHaveLength(4);
    expect(stderr).not.toMatch(/Warning|Error/);
  });

  it.each([
    ['search_context', ['text=turnover']],
    ['read_context', ['name=orders']],
    ['query_metrics', ['metrics=["orders.revenue"]', 'dimensions=["orders.buyer.region"]']],
    ['run_sql', ['sql=SELECT count(*) FROM orders']],
  ])('calls %s', async (tool, pairs) => {
    const { stdout } = await inspect(
      '--method',
      'tools/call',
      '--tool-name',
      tool,
      ...pairs.flatMap((pair) => ['--tool-arg', pair]),
    );
    const answer: unknown = JSON.parse(stdout);
    const data = { structuredContent: { trust: {}, untrusted: {}, page: { truncated: false } } };
    const text = {
      content: [{ type: 'text', text: expect.stringContaining('revenue') as unknown }],
    };
    expect(answer).toMatchObject(tool === 'read_context' ? text : data);
  });

  it('gives people of two roles their own rows, over HTTP and over stdio', async () => {
    await using served = await serveRegions();
    const { dir, url, tokens } = served;
    const args = [join(root, 'src/cli/main.ts'), 'mcp', 'serve', '--project-dir', dir];
    const people = ['dach', 'us'];
    const servers: Record<string, object> = {};
    // The Inspector passes nothing on of its own environment.
    const { XDG_CONFIG_HOME, XDG_STATE_HOME } = process.env;
    const own = { XDG_CONFIG_HOME, XDG_STATE_HOME };
    for (const role of people) {
      const { text } = await tokens.create({ name: role, role, scopes: ['read', 'query'] });
      const headers = { Authorization: `Bearer ${text}` };
      servers[`${role}-http`] = { type: 'streamable-http', url, headers };
      servers[`${role}-stdio`] = {
        command: process.execPath,
        args,
        env: { ...own, KTX_TOKEN: text },
      };
    }
    const config = join(home, 'people.json');
    writeFileSync(config, JSON.stringify({ mcpServers: servers }));
    for (const [index, role] of people.entries())
      for (const way of ['http', 'stdio']) {
        const { stdout } = await inspectServer(
          { config, server: `${role}-${way}` },
          '--method',
          'tools/call',
          '--tool-name',
          'query_metrics',
          ...['metrics=["orders.revenue"]', 'dimensions=["orders.region"]'].flatMap((pair) => [
            '--tool-arg',
            pair,
          ]),
        );
        expect(stdout).toContain(`canary-${role}`);
        expect(stdout).not.toContain(`canary-${people[1 - index]}`);
      }
  });

  it('reads a dataset', async () => {
    expect(
      (await inspect('--method', 'resources/read', '--uri', 'ktx://dataset/shop/orders')).stdout,
    ).toContain('name: revenue');
  });
});
