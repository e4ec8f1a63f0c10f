import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { approve } from '../support/approve.ts';
import { contestedProject, removeFolder, startPage } from '../web/page.ts';
import { serveRegions } from './http-shop.ts';

// An app is a page that a client shows in the conversation. Only clients that say so see anything
// of it, and what a person decides there needs the permission of the caller.

const showsApps = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};
const revenue = 'metric:warehouse.orders.revenue';
const appTools = ['read_conflicts', 'decide_conflict'];

let cwd: string;
let server: Awaited<ReturnType<typeof serveRegions>>;

beforeAll(async () => {
  cwd = await contestedProject();
  await approve(cwd);
  // Builds the apps if they are old.
  await (await startPage(cwd))[Symbol.asyncDispose]();
  server = await serveRegions({}, {}, cwd);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  removeFolder(cwd);
});

interface Connected {
  readonly over: 'stdio' | 'http';
  readonly mode: 'legacy' | 'auto';
  readonly capabilities?: object;
  readonly token?: string;
}

async function connect({ over, mode, capabilities = {}, token = '' }: Connected): Promise<Client> {
  const options = { capabilities, versionNegotiation: { mode } };
  const client = new Client({ name: 'host', version: '1' }, options);
  const headers = { authorization: `Bearer ${token}` };
  const transport =
    over === 'http'
      ? new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } })
      : new StdioClientTransport({
          command: process.execPath,
          args: [
            join(import.meta.dirname, '../../src/cli/main.ts'),
            'mcp',
            'serve',
            '--project-dir',
            cwd,
          ],
          env: process.env as Record<string, string>,
          stderr: 'ignore',
        });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

const tokenOf = async (name: string, scopes: ('read' | 'query' | 'write')[]) =>
  (await server.tokens.create({ name, scopes })).text;

const ways = (['stdio', 'http'] as const).flatMap((over) =>
  (['legacy', 'auto'] as const).map((mode) => ({ over, mode })),
);

describe.each(ways)('over $over, $mode', ({ over, mode }) => {
  test('a client that shows apps gets them, one file each', async () => {
    const token = await tokenOf(`shows ${over} ${mode}`, ['read', 'query', 'write']);
    const client = await connect({ over, mode, capabilities: showsApps, token });
    const { tools } = await client.listTools();
    const metaOf = (name: string) => tools.find((tool) => tool.name === name)?.['_meta'];
    expect(metaOf('query_metrics')).toEqual({ ui: { resourceUri: 'ui://ktx/answer' } });
    expect(metaOf('review_status')).toEqual({ ui: { resourceUri: 'ui://ktx/conflict' } });
    for (const name of appTools) expect(metaOf(name)).toEqual({ ui: { visibility: ['app'] } });
    const { contents } = await client.readResource({ uri: 'ui://ktx/answer' });
    expect(contents).toEqual([
      {
        uri: 'ui://ktx/answer',
        mimeType: 'text/html;profile=mcp-app',
        text: expect.stringContaining('<!doctype html>') as unknown,
        _meta: { ui: { csp: {}, prefersBorder: false } },
      },
    ]);
    await expect(client.readResource({ uri: 'ui://ktx/../page/index' })).rejects.toThrow();
  });

  test('another client sees nothing of them', async () => {
    const token = await tokenOf(`plain ${over} ${mode}`, ['read', 'query', 'write']);
    const client = await connect({ over, mode, token });
    const { tools } = await client.listTools();
    expect(tools.filter(({ _meta: meta }) => meta !== undefined)).toEqual([]);
    expect(tools.map(({ name }) => name)).not.toEqual(expect.arrayContaining(appTools));
    await expect(client.readResource({ uri: 'ui://ktx/answer' })).rejects.toThrow();
    await expect(client.callTool({ name: 'decide_conflict', arguments: {} })).rejects.toThrow(
      'There is no tool named decide_conflict.',
    );
  });
});

const conflictsSchema = z.object({
  untrusted: z.object({
    hits: z.array(
      z.object({
        conflict: z.object({
          subject: z.string(),
          kind: z.string(),
          variants: z.array(z.object({ id: z.string(), number: z.object({ value: z.number() }) })),
        }),
        explanation: z.object({ claims: z.array(z.object({ id: z.string() })) }),
      }),
    ),
  }),
});

describe('a decision in an app', () => {
  const git = (...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
  const open = async (client: Client) => {
    const { structuredContent } = await client.callTool({ name: 'read_conflicts', arguments: {} });
    const { untrusted } = conflictsSchema.parse(structuredContent);
    const conflict = untrusted.hits[0]?.conflict;
    const seen = conflict?.variants.map(({ id }) => id) ?? [];
    return { subject: conflict?.subject ?? '', kind: conflict?.kind ?? '', seen };
  };
  const decide = async (client: Client, decision: object) => {
    const result = await client.callTool({ name: 'decide_conflict', arguments: { decision } });
    const [block] = result.content;
    return { isError: result.isError, text: block?.type === 'text' ? block.text : '' };
  };

  test('is made under the name of the caller, and only with the scope to write', async () => {
    const reader = await connect({
      over: 'http',
      mode: 'auto',
      capabilities: showsApps,
      token: await tokenOf('Rea Reader', ['read', 'query']),
    });
    expect((await reader.listTools()).tools.map(({ name }) => name)).not.toContain(
      'decide_conflict',
    );
    const about = await open(reader);
    expect(about.subject).toBe(revenue);
    const before = git('rev-parse', 'HEAD');
    const choice = { verb: 'choose', ...about, version: about.seen[1] };
    expect((await decide(reader, choice)).text).toContain('scope_missing');
    expect(git('rev-parse', 'HEAD')).toBe(before);
    const writer = await connect({
      over: 'http',
      mode: 'auto',
      capabilities: showsApps,
      token: await tokenOf('Wil Writer', ['read', 'query', 'write']),
    });
    expect(await decide(writer, choice)).toMatchObject({ isError: false });
    expect(git('log', '-1', '--format=%s')).toBe(`ktx: decide ${revenue}`);
    expect(git('show', 'HEAD:pins.yaml')).toContain('by: Wil Writer');
    const undo = { verb: 'undo', subject: revenue, kind: 'metric', seen: [about.seen[1]] };
    expect(await decide(writer, undo)).toMatchObject({ isError: false });
  });

  test('is refused without what was seen, and if that is no longer what is open', async () => {
    const client = await connect({
      over: 'http',
      mode: 'auto',
      capabilities: showsApps,
      token: await tokenOf('Lin Late', ['read', 'write']),
    });
    const { seen, ...about } = await open(client);
    const before = git('rev-parse', 'HEAD');
    const version = seen[0];
    const unseen = await decide(client, { verb: 'choose', ...about, version });
    expect(unseen.text).toContain('invalid_input');
    const late = await decide(client, { verb: 'choose', ...about, version, seen: [seen[0]] });
    expect(late.text).toContain('question_changed');
    for (const decision of [
      { verb: 'edit', ...about, definition: 'sum(amount', seen },
      { verb: 'defer', ...about, until: '2001-01-01', seen },
      { verb: 'undo', ...about, seen: ['none'] },
    ])
      expect(await decide(client, decision)).toMatchObject({ isError: true });
    expect(git('rev-parse', 'HEAD')).toBe(before);
  });
});
