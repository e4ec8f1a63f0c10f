import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agentSchema, type ServerConfig } from '../../src/project/agents/agent-schema.ts';
import { type ExternalServers, openServers } from '../../src/chat/mcp-client/servers.ts';
import { openSecrets } from '../../src/store/secrets.ts';
import { type Manners, openHttpToolServer } from '../support/tool-server.ts';

const program = join(import.meta.dirname, '../support/tool-server.ts');
const projectDir = import.meta.dirname;
const { signal } = new AbortController();
const opened: (() => unknown)[] = [];
beforeAll(() => {
  process.env['SERVERS_TEST_TOKEN'] = 'Bearer cal-token';
});
afterAll(async () => {
  await Promise.all(opened.map((close) => close()));
  delete process.env['SERVERS_TEST_TOKEN'];
});

const stdio = (how: Manners, rest: object = {}) => ({
  transport: 'stdio',
  command: process.execPath,
  args: [program, how],
  env: { CAL_TOKEN: 'env:SERVERS_TEST_TOKEN' },
  tools: ['list_events'],
  ...rest,
});
const http = (url: string, rest: object = {}) => ({
  transport: 'http',
  url,
  headers: { Authorization: 'env:SERVERS_TEST_TOKEN', 'X-Key': 'env:SERVERS_TEST_TOKEN' },
  tools: ['list_events'],
  ...rest,
});

/** In this process: one of its own takes a second to start. */
async function near(how: Manners, rest: object = {}): Promise<object> {
  const server = await openHttpToolServer(how, 'Bearer cal-token');
  opened.push(() => server.close());
  return http(server.url, rest);
}

function serversOf(
  configs: Readonly<Record<string, object>>,
): Readonly<Record<string, ServerConfig>> {
  return agentSchema.parse({ name: 'test', mcp_servers: configs }).mcp_servers;
}

/** The environment of this process, without a `.env`. */
const secrets = openSecrets({
  projectDir,
  configDir: '/nowhere',
  env: process.env,
  envFile: { variables: new Map() },
});

async function open(
  configs: Readonly<Record<string, object>>,
  waitMs?: number,
): Promise<ExternalServers> {
  const servers = await openServers(
    { projectDir, servers: serversOf(configs), secrets, ...(waitMs !== undefined && { waitMs }) },
    signal,
  );
  opened.push(() => servers.close());
  return servers;
}

const asked = ({ tools }: ExternalServers) => tools[0]?.call({ day: '2024-05-01' }, signal);

/** A server on loopback that speaks no protocol. */
async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

describe('servers of others', { concurrent: true }, () => {
  test.for([
    ['huge-schema', 'mcp_server_invalid', /schema of list_events has 5000092 characters/],
    ['no-object', 'mcp_server_failed', /does not answer: Invalid result for tools\/list\.$/],
  ] as const)(
    'a list with %s is refused in one line, and is a warning where it is not required',
    async ([how, code, message]) => {
      await expect(open({ calendar: await near(how) })).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message) as unknown,
      });
      const { tools, warnings } = await open({ calendar: await near(how, { required: false }) });
      expect([tools, warnings.length]).toEqual([[], 1]);
    },
  );

  test('a very slow pattern is shown to the model, and not run by ktx', async () => {
    const [tool] = (await open({ calendar: await near('slow-pattern') })).tools;
    expect(tool?.inputSchema.safeParse({ day: `${'a'.repeat(40)}!` }).success).toBe(true);
    expect(z.toJSONSchema(tool?.inputSchema ?? z.never())).toMatchObject({
      properties: { day: { description: 'The day. Pattern: ^(a+)+$' } },
    });
  });

  test('takes one of ten thousand tools', async () => {
    const servers = await open({ calendar: await near('many-tools') });
    expect(servers.tools.map(({ name }) => name)).toEqual(['calendar__list_events']);
    expect(await asked(servers)).toMatchObject({ isError: false });
  });

  test('two tools that would have one name are refused', async () => {
    const clash = {
      a__: await near('underscore'),
      a: await near('underscore', { tools: ['__list_events'] }),
    };
    await expect(open(clash)).rejects.toMatchObject({
      code: 'mcp_server_invalid',
      message: expect.stringContaining('a____list_events') as unknown,
    });
  });

  test('all of them share one time limit', async () => {
    const hangs = await listening(() => undefined);
    const [one, two, three] = [
      stdio('silent'),
      http(hangs, { required: false }),
      http(hangs, { required: false }),
    ];
    const tooLong = expect.stringContaining('took too long') as unknown;
    await expect(open({ one, two, three }, 1500)).rejects.toMatchObject({
      code: 'mcp_server_failed',
      message: tooLong,
    });
    const { warnings, tools } = await open({ calendar: await near('works'), two, three }, 4000);
    expect([tools.length, warnings]).toEqual([1, [tooLong, tooLong]]);
  });

  test('other output on stdout and stderr does no harm', async () => {
    expect(await asked(await open({ calendar: stdio('noisy') }))).toMatchObject({ isError: false });
  });

  test('a list that changes later changes nothing', async () => {
    const servers = await open({ calendar: stdio('changes') });
    await asked(servers);
    expect(await asked(servers)).toMatchObject({ isError: false });
    expect(servers.tools.map(({ name }) => name)).toEqual(['calendar__list_events']);
  });

  test('an answer of 50 MB is a failed call, over either transport', async () => {
    const told = {
      code: 'mcp_server_failed',
      message: expect.stringContaining('it sent more than 10 MB at once') as unknown,
    };
    const [overHttp, overStdio] = [
      await open({ calendar: await near('huge-answer') }),
      await open({ calendar: stdio('huge-answer') }),
    ];
    await expect(asked(overHttp)).rejects.toMatchObject(told);
    await expect(asked(overStdio)).rejects.toMatchObject(told);
  });

  test('a redirect to another origin is not followed and gets no headers', async () => {
    const seen: unknown[] = [];
    const elsewhere = await listening(({ headers }, response) => {
      seen.push(headers);
      response.end();
    });
    const from = await listening(
      (_request, response) => void response.writeHead(307, { location: elsewhere }).end(),
    );
    await expect(open({ calendar: http(from) })).rejects.toMatchObject({
      code: 'mcp_server_failed',
    });
    expect(seen).toEqual([]);
  });

  test('a secret value is in no error, whoever quotes it', async () => {
    await expect(asked(await open({ calendar: await near('leaks') }))).rejects.toMatchObject({
      message: 'The server calendar failed: refused for [secret]',
    });
    const quoting = await listening(
      (request, response) =>
        void response.writeHead(400).end(`no: ${String(request.headers['x-key'])} \n cal-token`),
    );
    const failure: unknown = await open({ calendar: http(quoting) }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      code: 'mcp_server_failed',
      message: expect.stringContaining('[secret]') as unknown,
    });
    expect((failure as Error).message).not.toMatch(/cal-token|\n/);
  });
});
