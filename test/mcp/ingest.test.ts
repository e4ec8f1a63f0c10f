import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { withProjectLock } from '../../src/store/lock.ts';
import { run as git } from '../store/git-project.ts';
import { partsOfAnswer } from '../support/answer-parts.ts';
import { shopProject, sql } from '../ingest/ingest-project.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
let dir: string;
let client: Client;

beforeEach(async () => {
  dir = shopProject();
  client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [main, 'mcp', 'serve', '--project-dir', dir],
      env: process.env as Record<string, string>,
    }),
  );
});

afterEach(() => client.close());

interface Found {
  readonly run: string;
  readonly status: string;
  readonly step?: string;
  readonly commit?: string;
}

type Options = Parameters<Client['callTool']>[1];

async function ingest(args: Record<string, unknown>, options?: Options): Promise<Found> {
  const { content, isError } = await client.callTool({ name: 'ingest', arguments: args }, options);
  expect(isError).not.toBe(true);
  const [block] = content;
  const { untrusted } = partsOfAnswer(block?.type === 'text' ? block.text : '');
  return JSON.parse(untrusted.text) as Found;
}

/** Runs while another process of ktx would be working on the project. */
async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  return withProjectLock(dir, work);
}

const head = () => git(dir, 'rev-parse', 'HEAD').trim();

describe('an ingest over MCP', () => {
  test('ends with what it did, and with nothing to do the second time', async () => {
    const first = await ingest({});
    expect(first).toMatchObject({ status: 'complete', commit: head() });
    expect(git(dir, 'log', '-1', '--format=%B')).toContain(`Ktx-Run: ${first.run}`);
    expect(await ingest({ connections: ['shop'] })).toMatchObject({
      status: 'complete',
      commit: 'unchanged',
    });
  });

  test('waits for another process, says so in its status and in progress, and goes on by its id', async () => {
    const told: unknown[] = [];
    const onprogress = ({ message }: { message?: string }) => void told.push(message);
    const waiting = await whileLocked(async () => {
      const begun = await ingest({ wait: 2 }, { onprogress });
      expect(begun).toMatchObject({
        status: 'running',
        step: expect.stringMatching(/^Another ktx .* waiting for it/) as unknown,
      });
      expect(await ingest({ wait: 0 })).toMatchObject({ run: begun.run, status: 'running' });
      return begun;
    });
    expect(told).toContainEqual(expect.stringMatching(/^Another ktx/));
    expect(await ingest({ run: waiting.run })).toMatchObject({
      run: waiting.run,
      status: 'complete',
    });
    const unknown = await client.callTool({ name: 'ingest', arguments: { run: 'run_of_another' } });
    expect([unknown.isError, JSON.stringify(unknown.content)]).toEqual([
      true,
      expect.stringContaining('run_unknown'),
    ]);
  });

  test('is cancelled by its id, or with the call that started it, and leaves the project as it was', async () => {
    const before = head();
    await whileLocked(async () => {
      const { run } = await ingest({ wait: 0 });
      expect(await ingest({ run, cancel: true })).toMatchObject({ run, status: 'cancelled' });
      const stop = new AbortController();
      const told = new Promise((done) => {
        ingest({ connections: ['shop'] }, { signal: stop.signal, onprogress: done }).catch(
          () => undefined,
        );
      });
      await told;
      stop.abort();
    });
    // One that was still waiting would be the one that does the work.
    const after = await ingest({ wait: 50 });
    expect(git(dir, 'rev-list', `${before}..HEAD`).trim()).toBe(head());
    expect(git(dir, 'log', '-1', '--format=%B')).toContain(after.run);
  });

  test('is taken back by the call that started it, not by one that joined it, and is known however many others ended', async () => {
    const begun = await whileLocked(async () => {
      const { run } = await ingest({ wait: 0 });
      const stop = new AbortController();
      const told = new Promise((done) => {
        ingest({}, { signal: stop.signal, onprogress: done }).catch(() => undefined);
      });
      await told;
      stop.abort();
      for (let index = 0; index < 25; index += 1)
        await client.callTool({ name: 'ingest', arguments: { connections: [`no_${index}`] } });
      expect(await ingest({ run, wait: 0 })).toMatchObject({ run, status: 'running' });
      return run;
    });
    expect(await ingest({ run: begun, wait: 50 })).toMatchObject({
      status: 'complete',
      commit: head(),
    });
  });

  test('and one on the command line at once take turns, and neither loses anything', async () => {
    sql(dir, 'CREATE TABLE extra (id INTEGER PRIMARY KEY, word TEXT)');
    const [over, beside] = await Promise.all([
      ingest({ wait: 50 }),
      promisify(execFile)(process.execPath, [main, 'ingest', '--json', '--project-dir', dir]),
    ]);
    expect(over.status).toBe('complete');
    expect(JSON.parse(beside.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      ok: true,
    });
    expect(git(dir, 'ls-files', 'semantic-layer')).toContain('extra.yaml');
    expect(git(dir, 'status', '--porcelain')).toBe('');
    expect(git(dir, 'rev-list', '--count', 'HEAD').trim()).toBe('2');
  });

  test('that cannot begin is an error that says why', async () => {
    const { isError, content } = await client.callTool({
      name: 'ingest',
      arguments: { connections: ['shp'] },
    });
    expect([isError, JSON.stringify(content)]).toEqual([
      true,
      expect.stringMatching(/connection_unknown.*shop/),
    ]);
  });
});
