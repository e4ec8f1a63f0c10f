import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadAgent } from '../../src/project/agents/agent.ts';
import { openAgent } from '../../src/chat/open-agent.ts';
import type { PermissionPolicy } from '../../src/chat/tools/permissions.ts';
import { openTurnSpans } from '../../src/chat/telemetry/spans.ts';
import { type AgentEvent, readTurnResult, type TurnResult } from '../../src/llm/port/session.ts';
import type { OtlpSpan } from '../../src/llm/telemetry/otlp.ts';
import { openProject } from '../../src/project/open/open.ts';
import { openShop, type Shop } from '../mcp/shop.ts';
import { hasSlowCases } from '../slow-suites.ts';
import type { ClaudeHome } from '../support/claude-home.ts';
import { makeMachine, missing, testModel } from '../support/llm-runtimes.ts';
import {
  type ModelCase,
  type ModelEndpoint,
  openModelEndpoint,
} from '../support/model-endpoint.ts';
import { inTurn, say, type Script, use } from '../support/model-script.ts';
import { type HttpToolServer, type Manners, openHttpToolServer } from '../support/tool-server.ts';
import { approve } from '../support/approve.ts';
import { ktx } from '../cli/run-cli.ts';

/**
 * One project, whose agents answer over the AI SDK and over the real Claude Code program: whatever
 * happens is told alike.
 */
const backends = ['anthropic', 'claude-code'] as const;
type Backend = (typeof backends)[number];

let endpoint: ModelEndpoint;
let machine: ClaudeHome;
let shop: Shop;
const servers = new Map<Manners, HttpToolServer>();
beforeAll(async () => {
  endpoint = await openModelEndpoint();
  machine = await makeMachine(endpoint);
  shop = await openShop('sqlite');
  process.env['BACKENDS_TEST_KEY'] = 'made-up';
  process.env['BACKENDS_TEST_TOKEN'] = 'Bearer cal-token';
  for (const how of ['works', 'fails', 'lies'] as const)
    servers.set(how, await openHttpToolServer(how, 'Bearer cal-token'));
  mkdirSync(join(shop.dir, 'agents'));
  const provider = `{backend: anthropic, anthropic: {api_key: env:BACKENDS_TEST_KEY, base_url: "${endpoint.url}/v1"}}`;
  const llm = `llm:\n  provider: ${provider}\n  models: {default: ${testModel}}\n  prices: {${testModel}: {input: 3, output: 15}}\n  concurrency: 8\n`;
  writeFileSync(
    join(shop.dir, 'ktx.yaml'),
    `connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n${llm}`,
  );
  // The first search of a process loads the index. A child whose money is spent does not wait for
  // it.
  expect(await ktx(['search', 'revenue'], { cwd: shop.dir })).toMatchObject({ code: 0 });
});
afterAll(async () => {
  delete process.env['BACKENDS_TEST_KEY'];
  delete process.env['BACKENDS_TEST_TOKEN'];
  await Promise.all([...servers.values()].map((server) => server.close()));
  shop?.remove();
  await endpoint?.close();
  await machine?.remove();
});

/** What a row does on one of the backends. */
interface Stage {
  /**
   * A message to the conversation that is open; the first one opens it. `stop` ends the turn at the
   * first text.
   */
  readonly send: (message: string, stop?: 'at first text') => Promise<void>;
  /** The next message begins a conversation of its own. */
  readonly anew: () => Promise<void>;
  /** The next message goes on from what was kept, on the other backend. */
  readonly elsewhere: () => Promise<void>;
}

interface Row {
  readonly title: string;
  /** Whether `npm test` plays it on each backend. The others it plays over the AI SDK alone. */
  readonly isFast?: boolean;
  /** Of `agents/<name>.yaml`. */
  readonly file?: () => string;
  readonly policy?: PermissionPolicy;
  readonly script: Script;
  readonly act: (stage: Stage) => Promise<void>;
  /** Every event by its kind, with what it is about; text is one event however it was cut. */
  readonly events: readonly string[];
  readonly results: readonly object[];
  /** Words of an earlier turn that the last request to the model holds, or does not. */
  readonly remembers?: readonly string[];
  readonly forgets?: readonly string[];
}

/** Without what differs from run to run: marks and ids by chance, and milliseconds. */
const steady = (text: string): string =>
  text.replaceAll(/untrusted-\w{12}|(?<=source="\w+ )q_\w+/g, 'any').replaceAll(/\d+ ms/g, 'n ms');

function eventLine(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'session_started':
      return ['started', event.model, ...event.tools.filter((name) => name.includes('__'))].join(
        ' ',
      );
    case 'text_delta':
      return `text`;
    case 'tool_start':
      return `start ${event.name}`;
    case 'tool_end':
      return `end ${event.name}: ${event.ok ? 'ok' : 'failed'}${event.evidenceId === undefined ? '' : ` ${event.evidenceId}`}`;
    case 'permission_request':
      return `asks ${event.tool} (${event.effect})`;
    case 'warning':
      return `warning ${event.message}`;
    case 'usage':
      return `usage ${event.input}+${event.output}`;
    case 'turn_end':
      return `end of turn ${event.result.turn}: ${event.result.stopReason}`;
    case 'thinking_delta':
    case 'rate_limit':
      return event.type;
    default:
      return event satisfies never;
  }
}

function resultData(result: TurnResult): object {
  const {
    turn,
    text,
    stopReason,
    steps,
    usage,
    costUsd,
    costReason,
    error,
    denials,
    toolCalls,
    evidence,
  } = result;
  return {
    turn,
    text: steady(text),
    stopReason,
    steps,
    usage,
    costUsd: costUsd?.toFixed(6) ?? costReason,
    error: error && { code: error.code, message: error.message },
    denials: denials.map(({ tool, reason }) => ({ tool, reason })),
    toolCalls: toolCalls.map(({ name, ok, input, summary, answer }) => ({
      name,
      ok,
      input,
      summary: steady(summary),
      answer: steady(answer),
    })),
    evidence: evidence.map(({ id, tool, connection, sql, rows, trust }) => ({
      id,
      tool,
      connection,
      sql,
      rows,
      trust,
    })),
  };
}

function spanData(spans: readonly OtlpSpan[]): object[] {
  const [root] = spans;
  return spans.map(({ name, kind, parentSpanId, attributes, status: { code } }) => {
    const about = attributes.map(({ key }) => key);
    return { name, kind, isBelow: parentSpanId === root?.spanId, about, code };
  });
}

interface Played {
  readonly events: readonly string[];
  /** Of telemetry: the tree of each turn, with what every span is told of. */
  readonly spans: readonly object[];
  readonly results: readonly object[];
  readonly running: ModelCase;
}

async function play(row: Row, first: Backend): Promise<Played> {
  const { file, policy = { mode: 'acceptAll' }, script, act } = row;
  const running = endpoint.start(script);
  const name = (backend: Backend): string => `row${rows.indexOf(row)}-${first}-on-${backend}`;
  for (const backend of backends) {
    const text = `name: ${name(backend)}\nmodel: {backend: ${backend}, name: ${testModel}}\ninstructions: Case ${running.marker}.\n${file?.() ?? ''}\n`;
    writeFileSync(join(shop.dir, 'agents', `${name(backend)}.yaml`), text);
  }
  const env = {
    ...machine.env,
    BACKENDS_TEST_KEY: process.env['BACKENDS_TEST_KEY'],
    BACKENDS_TEST_TOKEN: process.env['BACKENDS_TEST_TOKEN'],
  };
  await approve(shop.dir, env);
  const project = await openProject(shop.dir, { env });
  const { signal } = new AbortController();
  const open = async (backend: Backend, resume?: string) =>
    openAgent(project, { agent: await loadAgent(shop.dir, name(backend)), policy, resume, signal });
  const [events, spans, results]: [string[], object[], object[]] = [[], [], []];
  try {
    let agent = await open(first);
    const stage: Stage = {
      async send(message, stop) {
        const controller = new AbortController();
        const told = openTurnSpans({
          conversation: 'test',
          agent: 'test',
          backend: first,
          model: testModel,
          message,
          content: undefined,
        });
        const result = await readTurnResult(
          agent.send(message, { signal: controller.signal, onCall: told.takeCall }),
          (event) => {
            const line = eventLine(event);
            if (line !== undefined && (line !== 'text' || events.at(-1) !== 'text'))
              events.push(line);
            spans.push(...spanData(told.take(event) ?? []));
            if (event.type === 'text_delta' && stop !== undefined) controller.abort();
          },
        );
        results.push(resultData(result));
      },
      async anew() {
        await agent.close();
        agent = await open(first);
      },
      async elsewhere() {
        const { id } = agent;
        await agent.close();
        agent = await open(first === 'anthropic' ? 'claude-code' : 'anthropic', id);
      },
    };
    await act(stage).finally(() => agent.close());
  } finally {
    await project.close();
  }
  return { events, spans, results, running };
}

const started = `started ${testModel}`;
const startedWithServer = `${started} calendar__list_events`;
const once =
  (message: string) =>
  async ({ send }: Stage) =>
    send(message);
const program = join(import.meta.dirname, '../support/tool-server.ts');
const stdio = (how: Manners) => () =>
  `mcp_servers: {calendar: {transport: stdio, command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(program)}, ${how}], env: {CAL_TOKEN: env:BACKENDS_TEST_TOKEN}, tools: [list_events]}}`;
const http = (how: Manners) => () =>
  `mcp_servers: {calendar: {transport: http, url: "${servers.get(how)?.url}", headers: {Authorization: env:BACKENDS_TEST_TOKEN}, tools: [list_events]}}`;
const lookUp = inTurn(use('calendar__list_events', { day: '2024-05-01' }), say('That is all.'));
const asking = (decision: 'once' | 'no'): PermissionPolicy => ({
  mode: 'manual',
  ask: () => Promise.resolve(decision),
});
const counting = inTurn(
  use('run_sql', { sql: 'SELECT count(*) AS n FROM orders' }),
  say('There it is.'),
);

const rows: readonly Row[] = [
  {
    title: 'one question, one answer with its evidence',
    script: inTurn(use('query_metrics', { metrics: ['orders.revenue'] }), say('1,800 EUR [q1].')),
    act: once('What is revenue?'),
    events: [
      started,
      'start query_metrics',
      'end query_metrics: ok q1',
      'text',
      'usage 200+40',
      'end of turn 1: completed',
    ],
    results: [
      {
        text: '1,800 EUR [q1].',
        steps: 2,
        costUsd: '0.001200',
        evidence: [{ id: 'q1', rows: [[1800]], trust: { status: 'curated' } }],
      },
    ],
  },
  {
    title: 'a wrong citation goes back to the model once, and a turn that comes after',
    isFast: true,
    script: inTurn(
      use('run_sql', { sql: 'SELECT count(*) AS n FROM orders' }),
      say('There are 900 [q7].'),
      say('There are 900 [q1].'),
      say('Yes, 900 [q8].'),
      say('Yes, 900 [q9].'),
    ),
    async act({ send }) {
      await send('How many orders?');
      await send('Are you sure?');
    },
    events: [
      started,
      'start run_sql',
      'end run_sql: ok q1',
      'text',
      'warning The citations of the answer were wrong; the model was asked once more. [q7]: there is no query q7',
      'text',
      'usage 300+60',
      'end of turn 1: completed',
      'text',
      'warning The citations of the answer were wrong; the model was asked once more. [q8]: there is no query q8',
      'text',
      'usage 200+40',
      'end of turn 2: completed',
    ],
    results: [
      { text: 'There are 900 [q1].', steps: 3, evidence: [{ id: 'q1', rows: [[900]] }] },
      { text: 'Yes, 900 [q9].', steps: 2, evidence: [] },
    ],
    remembers: ['How many orders?', 'There are 900 [q1].'],
  },
  {
    title: 'three turns with state',
    script: ({ n }) => say(`Answer ${n}.`),
    async act({ send }) {
      await send('Remember plum.');
      await send('Go on.');
      await send('What was it?');
    },
    events: [
      started,
      ...[1, 2, 3].flatMap((turn) => ['text', 'usage 100+20', `end of turn ${turn}: completed`]),
    ],
    results: [
      { turn: 1, text: 'Answer 1.' },
      { turn: 2, text: 'Answer 2.' },
      { turn: 3, text: 'Answer 3.' },
    ],
    remembers: ['Remember plum.', 'Answer 2.'],
  },
  {
    title: 'a second session without the state of the first',
    script: ({ n }) => say(`Answer ${n}.`),
    async act({ send, anew }) {
      await send('Remember plum.');
      await anew();
      await send('What was it?');
    },
    events: [1, 2].flatMap(() => [started, 'text', 'usage 100+20', 'end of turn 1: completed']),
    results: [{ turn: 1 }, { turn: 1, text: 'Answer 2.' }],
    forgets: ['plum', 'Answer 1.'],
  },
  {
    title: 'resumed on the other backend',
    isFast: true,
    script: inTurn(
      use('run_sql', { sql: 'SELECT 7 AS plum' }),
      say('Seven [q1].'),
      use('run_sql', { sql: 'SELECT 8 AS n' }),
      say('Eight [q2].'),
    ),
    async act({ send, elsewhere }) {
      await send('How many plums?');
      await elsewhere();
      await send('And pears?');
    },
    events: [1, 2].flatMap((n) => [
      started,
      'start run_sql',
      `end run_sql: ok q${n}`,
      'text',
      'usage 200+40',
      `end of turn ${n}: completed`,
    ]),
    results: [
      { evidence: [{ id: 'q1', rows: [[7]] }] },
      { turn: 2, text: 'Eight [q2].', evidence: [{ id: 'q2', rows: [[8]] }] },
    ],
    remembers: ['How many plums?', 'Seven [q1].'],
  },
  {
    title: 'a turn that is interrupted, and the next one',
    script: ({ n }) =>
      n === 1
        ? say('A long and winding answer about figs.', { hang: 'mid-stream' })
        : say('Short.'),
    async act({ send }) {
      await send('Tell me.', 'at first text');
      await send('Shorter.');
    },
    events: [
      started,
      'text',
      'usage 0+0',
      'end of turn 1: interrupted',
      'text',
      'usage 100+20',
      'end of turn 2: completed',
    ],
    results: [
      {
        text: 'A long and winding ',
        error: { code: 'llm_aborted' },
        costUsd: expect.stringContaining('broke off'),
      },
      { text: 'Short.' },
    ],
    remembers: ['A long and winding'],
  },
  {
    title: 'a permission that is granted',
    policy: asking('once'),
    script: counting,
    act: once('How many?'),
    events: [
      started,
      'start run_sql',
      'asks run_sql (query)',
      'end run_sql: ok q1',
      'text',
      'usage 200+40',
      'end of turn 1: completed',
    ],
    results: [{ denials: [], evidence: [{ rows: [[900]] }] }],
  },
  {
    title: 'a permission that is denied',
    isFast: true,
    policy: asking('no'),
    script: counting,
    act: once('How many?'),
    events: [
      started,
      'start run_sql',
      'asks run_sql (query)',
      'end run_sql: failed',
      'text',
      'usage 200+40',
      'end of turn 1: denied',
    ],
    results: [{ denials: [{ tool: 'run_sql', reason: 'denied by the user' }], evidence: [] }],
  },
  {
    title: 'a permission without a terminal',
    policy: { mode: 'manual' },
    script: counting,
    act: once('How many?'),
    events: [
      started,
      'start run_sql',
      'end run_sql: failed',
      'text',
      'usage 200+40',
      'end of turn 1: denied',
    ],
    results: [{ denials: [{ tool: 'run_sql', reason: 'nobody to ask' }], evidence: [] }],
  },
  {
    title: 'the money is spent',
    file: () => 'limits: {max_budget_usd: 0.5}',
    script: () =>
      use('search_context', { text: 'revenue' }, { usage: { input: 100_000, output: 1000 } }),
    act: once('Go.'),
    events: [
      started,
      ...[1, 2].flatMap(() => ['start search_context', 'end search_context: ok']),
      'usage 200000+2000',
      'end of turn 1: budget',
    ],
    results: [
      {
        error: {
          code: 'llm_budget_spent',
          message: expect.stringContaining('$0.6300 of the $0.5 that limits.max_budget_usd'),
        },
        costUsd: '0.630000',
      },
    ],
  },
  {
    title: 'a model that calls a tool forever',
    file: () => 'limits: {max_turns: 3}',
    script: () => use('search_context', { text: 'revenue' }),
    act: once('Go.'),
    events: [
      started,
      ...[1, 2, 3].flatMap(() => ['start search_context', 'end search_context: ok']),
      'usage 300+60',
      'end of turn 1: max_turns',
    ],
    results: [{ steps: 3, error: undefined }],
  },
  {
    title: 'a turn that takes too long',
    file: () => 'limits: {timeout: 3s}',
    script: () => say('Never.', { hang: 'at-start' }),
    act: once('Go.'),
    events: [started, 'end of turn 1: timeout'],
    results: [{ text: '', error: { code: 'llm_timeout' } }],
  },
  ...(
    [
      ['stdio', stdio],
      ['HTTP', http],
    ] as const
  ).flatMap(([over, server]): Row[] => [
    {
      title: `an external server over ${over}`,
      file: server('works'),
      script: lookUp,
      act: once('What is on?'),
      events: [
        startedWithServer,
        'start calendar__list_events',
        'end calendar__list_events: ok',
        'text',
        'usage 200+40',
        'end of turn 1: completed',
      ],
      results: [{ toolCalls: [{ answer: expect.stringContaining('2024-05-01: stand-up') }] }],
    },
    {
      title: `an external server over ${over} that fails in a call`,
      file: server('fails'),
      script: lookUp,
      act: once('What is on?'),
      events: [
        startedWithServer,
        'start calendar__list_events',
        'end calendar__list_events: failed',
        'text',
        'usage 200+40',
        'end of turn 1: completed',
      ],
      results: [
        {
          toolCalls: [{ ok: false, answer: expect.stringContaining('calendar failed') }],
          error: undefined,
        },
      ],
    },
    {
      title: `an external server over ${over} that lies about its tools`,
      file: server('lies'),
      script: lookUp,
      act: once('What is on?'),
      events: [
        startedWithServer,
        'start calendar__list_events',
        'end calendar__list_events: failed',
        'text',
        'usage 200+40',
        'end of turn 1: completed',
      ],
      results: [
        { toolCalls: [{ ok: false, answer: expect.stringContaining('unknown tool list_events') }] },
      ],
    },
  ]),
];

const why = missing('claude-code');
describe(
  `on every backend${why === undefined ? '' : `, skipped: ${why}`}`,
  { concurrent: true, skip: why !== undefined },
  () => {
    test.for(rows)('$title: the same on each', async (row) => {
      const { events, results, isFast } = row;
      const first = backends.slice(0, isFast === true || hasSlowCases ? undefined : 1);
      const [apart, ...others] = await Promise.all(first.map((backend) => play(row, backend)));
      expect(apart?.events).toEqual(events);
      expect(apart?.results).toMatchObject(results);
      for (const { running } of [apart, ...others].filter((each) => each !== undefined)) {
        const last =
          running.calls
            .at(-1)
            ?.messages.map(({ text }) => text)
            .join('\n') ?? '';
        for (const word of row.remembers ?? []) expect(last).toContain(word);
        for (const word of row.forgets ?? []) expect(last).not.toContain(word);
      }
      for (const other of others)
        expect({ ...other, running: undefined }).toEqual({ ...apart, running: undefined });
    });
  },
);
