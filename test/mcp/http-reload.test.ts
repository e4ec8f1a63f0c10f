import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import { approve } from '../support/approve.ts';
import { addTowns, connect, endless, makeRegions, serveRegions } from './http-shop.ts';

const city = { metrics: ['cities.city_count'] };

async function serve() {
  const dir = await makeRegions();
  const options = { reopen: () => openProject(dir), refreshMs: 20 };
  const served = await serveRegions(options, {}, dir);
  const config = join(dir, 'ktx.yaml');
  return {
    served,
    dir,
    append: (text: string) => writeFileSync(config, `${readFileSync(config, 'utf8')}${text}\n`),
    write: (text: string) => writeFileSync(config, text),
    read: () => readFileSync(config, 'utf8'),
    ready: async (): Promise<unknown> => (await fetch(served.url.replace('/mcp', '/ready'))).json(),
  };
}

const toolNames = async ({ client }: Awaited<ReturnType<typeof connect>>) =>
  (await client.listTools()).tools.map(({ name }) => name);

describe('a changed ktx.yaml', () => {
  it('counts for the next call, of clients that are connected too', async () => {
    const { served, append } = await serve();
    await using _ = served;
    await using session = await connect(served.url);
    expect(await toolNames(session)).toContain('run_sql');
    append('query: {run_sql: "off"}');
    await expect.poll(() => toolNames(session)).not.toContain('run_sql');
    expect((await session.call('query_metrics', city)).isError).toBe(false);
  });

  it.each(['legacy', 'auto'] as const)('drops no call of a client of %s', async (mode) => {
    const { served, dir, append } = await serve();
    await using _ = served;
    addTowns(dir);
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
    );
    await using other = await connect(served.url);
    client.setRequestHandler('elicitation/create', async () => {
      append('query: {run_sql: "off"}');
      await expect.poll(() => toolNames(other)).not.toContain('run_sql');
      return { action: 'accept', content: { meaning: 'cities.city_count' } };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url)));
    const args = { metrics: ['city_count'] };
    const result = await client.callTool({ name: 'query_metrics', arguments: args });
    expect(JSON.stringify(result.content)).toContain('900');
    expect(result.isError).toBe(false);
    await client.close();
  });

  it('lets a call run on that began before', async () => {
    const { served, append, read, write } = await serve();
    await using _ = served;
    await using session = await connect(served.url);
    await using other = await connect(served.url);
    // Not in the project that the server was started with: that one stays open anyway.
    append('query: {run_sql: "off"}');
    await expect.poll(() => toolNames(other)).not.toContain('run_sql');
    write(read().replace('"off"', '"on"'));
    await expect.poll(() => toolNames(other)).toContain('run_sql');
    const cancel = new AbortController();
    let progress = 0;
    const options = { signal: cancel.signal, onprogress: () => void (progress += 1) };
    const call = session.call('run_sql', { sql: endless }, options).catch(String);
    const waiting = { timeout: 10_000 };
    await expect.poll(() => progress, waiting).toBeGreaterThan(0);
    write(read().replace('"on"', '"off"'));
    await expect.poll(() => toolNames(other)).not.toContain('run_sql');
    const before = progress;
    await expect.poll(() => progress, waiting).toBeGreaterThan(before + 1);
    cancel.abort('enough of it');
    expect(await call).toContain('enough of it');
  });

  it('waits for a person if nobody has approved what it does', async () => {
    const { served, dir, read, write, ready } = await serve();
    await using _ = served;
    await using session = await connect(served.url);
    expect(await ready()).toMatchObject({ configuration: 'current' });
    const elsewhere =
      'connections:\n  elsewhere: {driver: postgres, url: "postgres://db.example/x"}';
    write(read().replace('connections:', elsewhere));
    const kept = { configuration: 'kept', reason: expect.stringContaining('ktx trust') };
    await expect.poll(ready).toMatchObject(kept);
    expect((await session.call('query_metrics', city)).isError).toBe(false);
    await approve(dir);
    await expect.poll(ready).toMatchObject({ configuration: 'current' });
    expect((await session.call('query_metrics', city)).text).toContain('elsewhere');
  });

  it('changes nothing while it cannot be read, or changes who comes in', async () => {
    const { served, read, write, ready } = await serve();
    await using _ = served;
    await using session = await connect(served.url);
    const before = read();
    write('connections: [');
    const unusable = { configuration: 'kept', reason: expect.stringContaining('cannot be used') };
    await expect.poll(ready).toMatchObject(unusable);
    expect((await session.call('query_metrics', city)).isError).toBe(false);
    write(before);
    await expect.poll(ready).toMatchObject({ configuration: 'current' });
    write(before.replace('serve: {}', 'serve: {default_role: admin}'));
    await expect.poll(ready).toMatchObject({ reason: expect.stringContaining('start the server') });
  });
});
