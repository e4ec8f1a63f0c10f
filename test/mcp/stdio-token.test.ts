import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openServerAudit } from '../../src/mcp/audit/shared-audit-log.ts';
import { openTokenFolder, openTokens, tokenFolder } from '../../src/mcp/http/tokens.ts';
import { openServeState } from '../../src/mcp/shared/serve-state.ts';
import { openTokenCaller } from '../../src/mcp/stdio/token-caller.ts';
import { openProject } from '../../src/project/open/open.ts';
import { ktx } from '../cli/run-cli.ts';
import { connect, makeRegions, serveRegions } from './http-shop.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
const revenue = { metrics: ['orders.revenue'], dimensions: ['orders.region'] };
const scopes: ('read' | 'query' | 'write')[] = ['read', 'query'];

const tokensOf = (dir: string) => openTokens(openTokenFolder(tokenFolder(dir, process.env)), dir);

/** `ktx mcp serve` as a process that a client starts, with a token. */
async function serve(dir: string, token: string) {
  const inherited = process.env as Record<string, string>;
  const client = new Client({ name: 'desk', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, 'mcp', 'serve', '--project-dir', dir],
    env: { ...inherited, KTX_TOKEN: token },
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify(await client.callTool({ name, arguments: args }));
  return { client, call, said: () => said };
}

describe('the server over stdio with a token', () => {
  it('answers two people of two roles with their own rows, as the server over HTTP does', async () => {
    await using served = await serveRegions();
    const { dir, tokens } = served;
    const [ann, bob] = await Promise.all([
      tokens.create({ name: 'ann', role: 'dach', scopes }),
      tokens.create({ name: 'bob', role: 'us', scopes }),
    ]);
    const people = [
      { text: ann.text, own: 'canary-dach', foreign: 'canary-us', total: '30' },
      { text: bob.text, own: 'canary-us', foreign: 'canary-dach', total: '500' },
    ];
    for (const { text, own, foreign, total } of people) {
      const desk = await serve(dir, text);
      await using remote = await connect(served.url, text);
      const structured = (value: unknown) => value as { untrusted: { rows: unknown } };
      const here = JSON.parse(await desk.call('query_metrics', revenue)) as {
        structuredContent: unknown;
      };
      const there = await remote.call('query_metrics', revenue);
      const rows = JSON.stringify(structured(here.structuredContent).untrusted.rows);
      expect(rows).toContain(own);
      expect(rows).toContain(total);
      expect(JSON.stringify(structured(there.structured).untrusted.rows)).toBe(rows);
      const asked: [string, Record<string, unknown>][] = [
        ['find_values', { text: 'canary' }],
        ['search_context', { text: 'canary' }],
        ['read_context', { name: 'orders' }],
        ['run_sql', { sql: 'SELECT region FROM orders' }],
      ];
      for (const [tool, args] of asked) expect(await desk.call(tool, args)).not.toContain(foreign);
      const tools = (await desk.client.listTools()).tools.map(({ name }) => name);
      expect(tools).toContain('run_sql');
      for (const tool of ['remember', 'ingest']) expect(tools).not.toContain(tool);
    }
    const day = new Date().toISOString().slice(0, 10);
    const lines = readFileSync(join(dir, `.ktx/audit/${day}.jsonl`), 'utf8').split('\n');
    const ofDesk = lines.filter((line) => line.includes('"client":"desk 1"'));
    for (const [name, role] of [
      ['ann', 'dach'],
      ['bob', 'us'],
    ]) {
      const own = ofDesk.filter((line) => line.includes(`"person":"${name}"`));
      expect(own.length).toBeGreaterThanOrEqual(6);
      for (const line of own) expect(line).toContain(`"role":"${role}"`);
    }
  });

  it('does not start with a token that is unknown, expired, revoked or none, and shows none', async () => {
    const dir = await makeRegions();
    const tokens = tokensOf(dir);
    const expires = new Date(Date.now() - 1000).toISOString();
    const expired = await tokens.create({ name: 'old', scopes, expires });
    const revoked = await tokens.create({ name: 'gone', scopes });
    await tokens.revoke('gone');
    const valid = await tokens.create({ name: 'ann', scopes });
    const wrong = valid.text.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const cases = [
      [expired.text, 'expired'],
      [revoked.text, 'revoked'],
      [wrong, 'does not know this token'],
      [`ktx_${'0'.repeat(12)}_${'0'.repeat(64)}`, 'does not know this token'],
      ['ktx', 'does not know this token'],
      ['two words', 'no token of ktx'],
    ] as const;
    for (const [token, reason] of cases) {
      const ran = await ktx(['mcp', 'serve'], { cwd: dir, env: { KTX_TOKEN: token } });
      expect(ran.code).toBe(4);
      expect(ran.stderr).toContain(reason);
      expect(ran.stdout).toBe('');
      if (token.length > 20) expect(ran.stderr).not.toContain(token.slice(-20));
    }
  });

  it('ends at the next message once the token is revoked', async () => {
    const dir = await makeRegions();
    const tokens = tokensOf(dir);
    const { text } = await tokens.create({ name: 'ann', role: 'dach', scopes });
    const desk = await serve(dir, text);
    expect(await desk.call('query_metrics', revenue)).toContain('canary-dach');
    await tokens.revoke('ann');
    await expect(desk.call('query_metrics', revenue)).rejects.toThrow();
    await expect.poll(desk.said).toContain('token_invalid');
    expect(desk.said()).toContain('revoked');
  });

  it('ends once its token file says another role, rather than going on with the old one', async () => {
    const dir = await makeRegions();
    const { text, token } = await tokensOf(dir).create({ name: 'ann', role: 'dach', scopes });
    const project = await openProject(dir);
    onTestFinished(() => project.close());
    await using state = await openServeState(project, process.env);
    using audit = await openServerAudit(dir, process.env, state);
    const { signal } = new AbortController();
    const limits = { requestsPerMinute: 100, concurrentQueries: 4 };
    const { admit, close } = await openTokenCaller(project, { text, state, audit, limits, signal });
    await admit();
    const file = join(tokenFolder(dir, process.env), `${token.id}.json`);
    const written = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...written, role: 'admin' }));
    await expect(admit()).rejects.toMatchObject({ code: 'token_invalid' });
    await close();
  });
});
