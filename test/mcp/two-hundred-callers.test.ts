import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { openServeState } from '../../src/mcp/shared/serve-state.ts';
import { openProject } from '../../src/project/open/open.ts';
import { roleNames } from '../warehouse/identity/callers.ts';
import { callTool, type ToolCall } from './call-tool.ts';
import { startServer } from './http-process.ts';
import { makePostgresShop } from './identity-shop.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
const seconds = Number(process.env['KTX_LOAD_SECONDS'] ?? 60);
const callers = 200;

/** What each caller asks in turn; `other` is another role, whose rows it looks for. */
const questions = (other: string): readonly ToolCall[] => [
  ['query_metrics', { metrics: ['orders.order_count'], dimensions: ['orders.word'] }],
  ['run_sql', { sql: 'SELECT word FROM orders' }],
  ['run_sql', { sql: `SELECT word FROM orders WHERE region = '${other}'` }],
  ['find_values', { text: `canary-${other}` }],
  ['read_context', { name: 'orders' }],
  ['search_context', { text: 'order count' }],
];

const percentile = (times: readonly number[], share: number): number =>
  Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN);

const canaries = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/canary-([a-z]+)-\d+/g)].map(([, role = '']) => role));

interface Load {
  readonly times: number[];
  readonly errors: Map<string, number>;
  readonly foreign: string[];
  own: number;
}

/** One caller, who asks again as soon as there is an answer. */
async function askUntil(
  end: number,
  load: Load,
  {
    role,
    ask,
  }: {
    role: string;
    ask: (question: ToolCall) => Promise<string>;
  },
): Promise<void> {
  const own = roleNames.indexOf(role as (typeof roleNames)[number]);
  for (let turn = 0; Date.now() < end; turn += 1) {
    const other = roleNames[(own + 1 + (turn % 5)) % roleNames.length] ?? '';
    const question = questions(other)[turn % 6] ?? ['', {}];
    const begun = performance.now();
    const text = await ask(question);
    load.times.push(performance.now() - begun);
    const [, code] = /Error ([a-z_]+)\\n/.exec(text) ?? [];
    if (code !== undefined || !text.startsWith('200'))
      load.errors.set(
        code ?? text.slice(0, 60),
        (load.errors.get(code ?? text.slice(0, 60)) ?? 0) + 1,
      );
    const found = canaries(text.replaceAll(`canary-${other}\\`, '').replaceAll(/`[^`]*`/g, ''));
    if (found.has(role)) load.own += 1;
    load.foreign.push(
      ...[...found].filter((each) => each !== role).map((each) => `${role} ${each}`),
    );
  }
}

const emptyLoad = (): Load => ({ times: [], errors: new Map(), foreign: [], own: 0 });

const figures = ({ times, own }: Load, took: number): string =>
  `${times.length} calls, ${Math.round(times.length / took)}/s, p50 ${percentile(times, 0.5)} ms, ` +
  `p95 ${percentile(times, 0.95)} ms, p99 ${percentile(times, 0.99)} ms, ${own} with own rows`;

test(`${callers} callers of six roles for ${seconds} s see rows of their own alone`, async () => {
  const { dir } = await makePostgresShop('role');
  const project = await openProject(dir);
  const state = await openServeState(project, process.env);
  const people = [];
  for (let index = 0; index < callers; index += 1) {
    const role = roleNames[index % roleNames.length] ?? '';
    const { text } = await state.tokens.create({
      name: `person-${index}`,
      role,
      scopes: ['read', 'query'],
    });
    people.push({ role, token: text });
  }
  await state[Symbol.asyncDispose]();
  await project.close();

  const server = await startServer(dir);
  const http = emptyLoad();
  const one = emptyLoad();
  try {
    const [first] = people;
    if (first === undefined) throw new Error('nobody');
    const over = (token: string) => async (question: ToolCall) => {
      const { status, text } = await callTool({ url: server.url, token }, question);
      return `${status} ${text}`;
    };
    await askUntil(Date.now() + 5_000, one, { role: first.role, ask: over(first.token) });
    const end = Date.now() + seconds * 1000;
    await Promise.all(
      people.map(({ role, token }) => askUntil(end, http, { role, ask: over(token) })),
    );
  } finally {
    await server.stop();
  }

  const stdio = emptyLoad();
  const client = new Client({ name: 'load', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [main, 'mcp', 'serve', '--project-dir', dir, '--role', 'dach'],
      env: process.env as Record<string, string>,
      stderr: 'ignore',
    }),
  );
  await askUntil(Date.now() + 5_000, stdio, {
    role: 'dach',
    async ask([name, args]) {
      const { content } = await client.callTool({ name, arguments: { ...args } });
      return `200 ${JSON.stringify(content)}`;
    },
  });
  await client.close();

  console.log(
    `HTTP, ${callers} callers: ${figures(http, seconds)}; HTTP, one caller: ${figures(one, 5)}; ` +
      `stdio, one caller: ${figures(stdio, 5)}`,
  );
  expect(http.foreign).toEqual([]);
  expect([...http.errors]).toEqual([]);
  expect([...stdio.errors, ...one.errors]).toEqual([]);
  expect(http.own).toBeGreaterThan(callers);
});
