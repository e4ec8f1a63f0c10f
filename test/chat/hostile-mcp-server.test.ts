import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type ExternalServers, openServers } from '../../src/chat/mcp-client/servers.ts';
import { agentSchema } from '../../src/project/agents/agent-schema.ts';
import type { Trick } from '../support/hostile-tool-server.ts';

const program = join(import.meta.dirname, '../support/hostile-tool-server.ts');
const { signal } = new AbortController();
const closers: (() => unknown)[] = [];
afterAll(async () => {
  await Promise.all(closers.map((close) => close()));
});

/**
 * The server runs in a process of its own, so that the memory and time measured here are of ktx.
 */
async function serverConfig(trick: Trick, transport: 'stdio' | 'http'): Promise<object> {
  const tools = ['list_events'];
  if (transport === 'stdio')
    return { transport, command: process.execPath, args: [program, trick], tools };
  const child = spawn(process.execPath, [program, trick, 'http'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closers.push(() => child.kill('SIGKILL'));
  for await (const url of createInterface({ input: child.stdout }))
    return { transport, url, tools };
  throw new Error('the hostile server did not start');
}

async function openHostile(trick: Trick, transport: 'stdio' | 'http'): Promise<ExternalServers> {
  const hostile = await serverConfig(trick, transport);
  const { mcp_servers: servers } = agentSchema.parse({
    name: 'test',
    mcp_servers: { hostile },
  });
  const secrets = (): string => '';
  const opened = await openServers({ projectDir: import.meta.dirname, servers, secrets }, signal);
  closers.push(() => opened.close());
  return opened;
}

/** The text of the answer, or of the error. */
async function outcomeOf(trick: Trick, transport: 'stdio' | 'http'): Promise<string> {
  try {
    const { tools } = await openHostile(trick, transport);
    const [tool] = tools;
    // As before a call: the input is checked, and the schema is sent to a model.
    tool?.inputSchema.safeParse({ day: { a: 1 } });
    z.toJSONSchema(tool?.inputSchema ?? z.never(), { target: 'draft-7', io: 'input' });
    return (await tool?.call({ day: '2024-05-01' }, signal))?.markdown ?? 'no tool';
  } catch (error) {
    expect(error).toMatchObject({ name: 'UserError' });
    return String(error);
  }
}

const tooLarge = /sent more than 10 MB at once/;
const tooMany = /more than 10000 lines that/;
const expected: [Trick, 'stdio' | 'http', RegExp][] = [
  ['deep-schema', 'stdio', /nested too deeply/],
  ['deep-schema', 'http', /nested too deeply/],
  ['deep-answer', 'stdio', /nested too deeply/],
  ['deep-answer', 'http', /nested too deeply/],
  ['deep-error', 'stdio', /failed: no$/],
  ['ref-bomb', 'http', /too large once its references are followed/],
  ['ref-loop', 'http', /\nok\n/],
  ['slow-output-pattern', 'stdio', /\nok\n/],
  ['million-tools', 'http', /lists more than 50000 tools/],
  ['endless-pages', 'http', /more than 64 pages/],
  ['colored-header', 'http', /it has no tool list_events/],
  ['header-in-call', 'http', /failed: \]0;owned \[2Jno/],
  ['half-gigabyte', 'stdio', tooLarge],
  ['half-gigabyte', 'http', tooLarge],
  ['endless-line', 'stdio', tooLarge],
  ['endless-notices', 'stdio', tooMany],
  ['endless-notices', 'http', tooMany],
  ['endless-progress', 'stdio', tooMany],
  ['endless-pings', 'stdio', tooMany],
  ['endless-pings', 'http', /asked ktx more than 1000 times|more than 10000 lines/],
  ['comments-without-end', 'stdio', tooMany],
  ['comments-without-end', 'http', tooMany],
  ['carriage-returns', 'http', tooMany],
  ['many-contents', 'http', /\(cut: \d+ characters in all\)/],
];

describe('a hostile MCP server ends in its own error', () => {
  test.for(expected)('%s over %s', async ([trick, transport, message]) => {
    const written = captureOutput();
    const before = process.memoryUsage().rss;
    let heaviest = before;
    const watch = setInterval(() => {
      heaviest = Math.max(heaviest, process.memoryUsage().rss);
    }, 50);
    const start = performance.now();
    const outcome = await outcomeOf(trick, transport);
    clearInterval(watch);
    expect(outcome).toMatch(message);
    expect(performance.now() - start).toBeLessThan(30_000);
    expect(heaviest - before).toBeLessThan(500_000_000);
    // The SDK prints some warnings itself, with names that the server chose.
    expect(written()).not.toMatch(/owned/);
  });
});

function captureOutput(): () => string {
  let text = '';
  const keep = (...parts: unknown[]): true => {
    text += parts.map(String).join(' ');
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(keep),
    vi.spyOn(process.stderr, 'write').mockImplementation(keep),
    vi.spyOn(console, 'warn').mockImplementation(keep),
    vi.spyOn(console, 'debug').mockImplementation(keep),
  ];
  return () => {
    for (const spy of spies) spy.mockRestore();
    return text;
  };
}
