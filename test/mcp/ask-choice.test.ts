import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { addTowns, makeRegions, serveRegions } from './http-shop.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

type Mode = 'legacy' | 'auto';
type Reply = { action: 'accept'; content: { meaning: string } } | { action: 'decline' };

/** A client that can ask its user; the user replies with one reply after the other. */
function askingClient(mode: Mode, replies: readonly Reply[]) {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
  );
  const questions: unknown[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    questions.push(params);
    return replies[questions.length - 1] ?? { action: 'cancel' };
  });
  const call = async (args: object) => {
    const result = await client.callTool({ name: 'query_metrics', arguments: { ...args } });
    const [block] = result.content;
    return { isError: result.isError === true, text: block?.type === 'text' ? block.text : '' };
  };
  return { client, questions, call };
}

const choose = (meaning: string): Reply => ({ action: 'accept', content: { meaning } });
const query = { metrics: ['city_count'] };
/** Over the cities: 900 of them, and the sum of their ids. */
const [counted, summed] = [/900/, /404550/];

describe.each(['legacy', 'auto'] as const)('an ambiguous name, for a client of %s', (mode) => {
  it('is asked about over HTTP, and the query goes on with the choice', async () => {
    await using served = await serveRegions();
    addTowns(served.dir);
    const { client, questions, call } = askingClient(mode, [choose('towns.city_count')]);
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url)));
    const { text, isError } = await call(query);
    expect(isError, text).toBe(false);
    expect(text).toMatch(summed);
    expect(questions).toMatchObject([
      {
        message: '"city_count" can mean 2 things. Which one?',
        requestedSchema: {
          properties: { meaning: { enum: ['cities.city_count', 'towns.city_count'] } },
        },
      },
    ]);
    await client.close();
  });

  it('is asked about over stdio', async () => {
    const dir = await makeRegions();
    addTowns(dir);
    const { client, call } = askingClient(mode, [choose('cities.city_count')]);
    const env = { ...process.env } as Record<string, string>;
    const args = [main, 'mcp', 'serve', '--project-dir', dir];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
    const { text, isError } = await call(query);
    expect(isError, text).toBe(false);
    expect(text).toMatch(counted);
    await client.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it('is the error with the choices if the user declines, or answers something else', async () => {
    await using served = await serveRegions();
    addTowns(served.dir);
    for (const reply of [{ action: 'decline' } as const, choose('orders.revenue')]) {
      const { client, questions, call } = askingClient(mode, [reply]);
      await client.connect(new StreamableHTTPClientTransport(new URL(served.url)));
      const { text, isError } = await call(query);
      expect(isError).toBe(true);
      expect(text).toContain('Write one of: cities.city_count, towns.city_count.');
      expect(questions).toHaveLength(1);
      await client.close();
    }
  });

  it('is the error for a client that cannot ask', async () => {
    await using served = await serveRegions();
    addTowns(served.dir);
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url)));
    const result = await client.callTool({ name: 'query_metrics', arguments: query });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain('cities.city_count, towns.city_count');
    await client.close();
  });

  it('leaves values alone that are the same word', async () => {
    await using served = await serveRegions();
    addTowns(served.dir);
    const { client, call } = askingClient(mode, [choose('cities.city_count')]);
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url)));
    const where = [{ field: 'cities.name', op: '!=', value: 'city_count' }];
    const { text, isError } = await call({ ...query, where });
    expect(isError, text).toBe(false);
    expect(text).toContain("'city_count'");
    await client.close();
  });
});
