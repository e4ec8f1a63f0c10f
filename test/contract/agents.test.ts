import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadAgent } from '../../src/project/agents/agent.ts';
import { type OpenAgent, openAgent } from '../../src/chat/open-agent.ts';
import type { PermissionPolicy } from '../../src/chat/tools/permissions.ts';
import { type AgentEvent, readTurnResult, type TurnResult } from '../../src/llm/port/session.ts';
import { openProject } from '../../src/project/open/open.ts';
import { openShop, type Shop } from '../mcp/shop.ts';
import {
  type ModelCase,
  type ModelEndpoint,
  openModelEndpoint,
} from '../support/model-endpoint.ts';
import { inTurn, say, type Script, use } from '../support/model-script.ts';
import { type HttpToolServer, type Manners, openHttpToolServer } from '../support/tool-server.ts';
import { approve } from '../support/approve.ts';

const program = join(import.meta.dirname, '../support/tool-server.ts');

let endpoint: ModelEndpoint;
const servers = new Map<Manners, HttpToolServer>();
beforeAll(async () => {
  endpoint = await openModelEndpoint();
  process.env['AGENTS_TEST_KEY'] = 'made-up';
  process.env['AGENTS_TEST_TOKEN'] = 'Bearer cal-token';
  for (const how of ['works', 'lies', 'twice', 'bad-schema', 'hostile'] as const)
    servers.set(how, await openHttpToolServer(how, 'Bearer cal-token'));
});
afterAll(async () => {
  delete process.env['AGENTS_TEST_KEY'];
  delete process.env['AGENTS_TEST_TOKEN'];
  await Promise.all([...servers.values()].map((server) => server.close()));
  await endpoint?.close();
});

// What ktx does above all backends; that they do it alike is in agent-backends.test.ts.
describe('an agent', { concurrent: true }, () => {
  let shop: Shop;
  let agents = 0;
  beforeAll(async () => {
    shop = await openShop('sqlite');
    mkdirSync(join(shop.dir, 'agents'));
    const provider = `{backend: anthropic, anthropic: {api_key: env:AGENTS_TEST_KEY, base_url: "${endpoint.url}/v1"}}`;
    const llm = `llm:\n  provider: ${provider}\n  models: {default: claude-sonnet-4-6}\n  concurrency: 4\n`;
    writeFileSync(
      join(shop.dir, 'ktx.yaml'),
      `connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n${llm}`,
    );
  });
  afterAll(() => shop?.remove());

  interface Played {
    readonly running: ModelCase;
    readonly agent: OpenAgent;
    readonly events: AgentEvent[];
    readonly send: (message: string) => Promise<TurnResult>;
    readonly close: () => Promise<void>;
  }

  /** An agent whose model is the script. */
  async function play(
    script: Script,
    file: string,
    { policy = { mode: 'acceptAll' } }: { readonly policy?: PermissionPolicy } = {},
  ): Promise<Played> {
    const running = endpoint.start(script);
    const name = `agent${(agents += 1)}`;
    writeFileSync(
      join(shop.dir, `agents/${name}.yaml`),
      `name: ${name}\ninstructions: Case ${running.marker}.\n${file}\n`,
    );
    await approve(shop.dir);
    const project = await openProject(shop.dir);
    try {
      const agent = await openAgent(project, {
        agent: await loadAgent(shop.dir, name),
        policy,
        signal: new AbortController().signal,
      });
      const events: AgentEvent[] = [];
      const close = async (): Promise<void> => {
        await agent.close();
        await project.close();
      };
      return {
        running,
        agent,
        events,
        close,
        send: (message) => readTurnResult(agent.send(message), (event) => events.push(event)),
      };
    } catch (error) {
      await project.close();
      throw error;
    }
  }

  /** In this process: one of its own takes a second to start. */
  const calendar = (how: Manners, rest = ''): string =>
    `mcp_servers: {calendar: {transport: http, url: "${servers.get(how)?.url}", headers: {Authorization: env:AGENTS_TEST_TOKEN}, tools: [list_events]${rest}}}`;
  const child = `mcp_servers: {calendar: {transport: stdio, command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(program)}, works], env: {CAL_TOKEN: env:AGENTS_TEST_TOKEN}, tools: [list_events]}}`;
  const lookUp: Script = ({ results }) =>
    results.length === 0
      ? use('calendar__list_events', { day: '2024-05-01' })
      : say(`Told: ${results[0]?.text}`);

  test('calls an external server over stdio: its answer is marked as data, and it gets only its own variables', async () => {
    process.env['AGENTS_TEST_SECRET'] = 'not for servers';
    const { send, close, running } = await play(lookUp, child);
    const result = await send('What is on?');
    delete process.env['AGENTS_TEST_SECRET'];
    expect(result.text).toMatch(
      /^Told: <untrusted-\w+ source="calendar__list_events">\n2024-05-01: stand-up; secret Bearer cal-token\n<\/untrusted-/,
    );
    expect(running.calls[0]?.tools.some((name) => name.endsWith('calendar__list_events'))).toBe(
      true,
    );
    // It has this one too, and nobody listed it.
    expect(running.calls[0]?.tools.some((name) => name.includes('delete_all'))).toBe(false);
    await close();
  });

  test('calls an external server over HTTP, with its token', async () => {
    const { send, close } = await play(lookUp, calendar('works'));
    expect((await send('What is on?')).text).toContain('2024-05-01: stand-up');
    expect(new Set(servers.get('works')?.authorizations)).toEqual(new Set(['Bearer cal-token']));
    await close();
  });

  test('checks the input of an external tool before the call; a tool that the server does not have fails', async () => {
    const script = inTurn(
      use('calendar__list_events', { date: 'tomorrow' }),
      use('calendar__list_events', { day: '2024-05-01' }),
      say('It does not work.'),
    );
    const { send, close } = await play(script, calendar('lies'));
    const result = await send('What is on?');
    expect(result).toMatchObject({ stopReason: 'completed', text: 'It does not work.' });
    expect(result.toolCalls).toMatchObject([
      { ok: false, answer: expect.stringMatching(/Invalid (?:input|arguments)/) },
      { ok: false, answer: expect.stringContaining('unknown tool list_events') },
    ]);
    await close();
  });

  test('does not let the answer of a server end its marks or run a tool that does not exist', async () => {
    const script: Script = ({ results, n }) =>
      n === 1
        ? use('calendar__list_events', { day: '2024-05-01' })
        : n === 2
          ? use('delete_all', {})
          : say(`No: ${results.length}`);
    const { send, close, running } = await play(script, calendar('hostile'));
    const result = await send('What is on?');
    expect(result.toolCalls.map(({ name, ok }) => [name.includes('delete_all'), ok])).toEqual([
      [false, true],
      [true, false],
    ]);
    const told = running.calls[1]?.results[0]?.text ?? '';
    const [, mark] = /^<untrusted-(\w+)/.exec(told) ?? [];
    expect(told.endsWith(`</untrusted-${mark}>`)).toBe(true);
    expect(mark).not.toBe('000000000000');
    await close();
  });

  test.for([
    ['that lists a tool twice', 'twice', /lists list_events twice/],
    ['whose tool has no valid schema', 'bad-schema', /schema of .* is not valid/],
  ] as const)(
    'a server %s is an error before anything is asked, or a warning where it is not required',
    async ([, how, message]) => {
      await expect(play(lookUp, calendar(how))).rejects.toMatchObject({
        code: 'mcp_server_invalid',
        message: expect.stringMatching(message),
      });
      const { agent, close } = await play(lookUp, calendar(how, ', required: false'));
      expect(agent.about.warnings).toEqual([expect.stringMatching(message)]);
      expect(agent.about.tools.map(({ name }) => name)).not.toContain('calendar__list_events');
      await close();
    },
  );

  test('reports a server that does not run or refuses: as an error, or as a warning if it is optional', async () => {
    const server = await openHttpToolServer('works', 'another token');
    const http = (rest: string): string =>
      `mcp_servers: {calendar: {transport: http, url: "${server.url}", tools: [list_events]${rest}}}`;
    await expect(play(lookUp, http(''))).rejects.toMatchObject({ code: 'mcp_server_failed' });
    const { agent, close } = await play(lookUp, http(', required: false'));
    expect(agent.about.warnings).toHaveLength(1);
    await close();
    await server.close();
    await expect(play(lookUp, http(''))).rejects.toMatchObject({ code: 'mcp_server_failed' });
  });

  test('asks once for an external tool if the permission is for the session', async () => {
    const asked: string[] = [];
    const policy: PermissionPolicy = {
      mode: 'acceptEdits',
      ask: ({ tool }) => Promise.resolve((asked.push(tool), 'session' as const)),
    };
    const granted = await play(lookUp, calendar('works'), { policy });
    expect(await granted.send('What is on?')).toMatchObject({
      stopReason: 'completed',
      denials: [],
    });
    expect(await granted.send('And now?')).toMatchObject({
      stopReason: 'completed',
      toolCalls: [{ ok: true }],
    });
    expect(asked).toEqual(['calendar__list_events']);
    expect(granted.events.filter(({ type }) => type === 'permission_request')).toMatchObject([
      { tool: 'calendar__list_events', effect: 'external', input: { day: '2024-05-01' } },
    ]);
    await granted.close();
  });

  test('goes on from a transcript, with evidence that keeps its numbers', async () => {
    const script = inTurn(
      use('run_sql', { sql: 'SELECT 7 AS plum' }),
      say('Seven [q1].'),
      use('run_sql', { sql: 'SELECT 8' }),
      say('Eight [q2].'),
    );
    const first = await play(script, '');
    await first.send('How many plums?');
    await first.close();
    await approve(shop.dir);
    const project = await openProject(shop.dir);
    const agent = await loadAgent(shop.dir, first.agent.about.agent);
    const second = await openAgent(project, {
      agent,
      policy: { mode: 'acceptAll' },
      resume: first.agent.id,
      signal: new AbortController().signal,
    });
    const result = await readTurnResult(second.send('And pears?'));
    expect(result).toMatchObject({ turn: 2, text: 'Eight [q2].', evidence: [{ id: 'q2' }] });
    expect(first.running.calls[2]?.messages.map(({ text }) => text).join('\n')).toContain(
      'Seven [q1].',
    );
    await second.close();
    await project.close();
  });
});
