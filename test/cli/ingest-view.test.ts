import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';
import { describeIngest, describeTimes } from '../../src/cli/commands/learn/ingest-report-text.ts';
import { openIngestView } from '../../src/cli/commands/learn/ingest-view.ts';
import { detectScreen } from '../../src/cli/terminal/screen.ts';
import { openProgressLine } from '../../src/cli/terminal/progress.ts';
import type { IngestEvent } from '../../src/ingest/event.ts';
import { UserError } from '../../src/lib/error.ts';
import { withProjectLock } from '../../src/store/lock.ts';
import { ingestHere, shopProject } from '../ingest/ingest-project.ts';
import { run as git } from '../store/git-project.ts';

const started = (unit: string): IngestEvent => ({
  type: 'work_unit_started',
  unit,
  stage: 'extract',
  items: [unit],
});
const usage: IngestEvent = {
  type: 'llm_usage',
  calls: 3,
  input: 1000,
  output: 234,
  cacheRead: 500,
  cacheWrite: 0,
  costUsd: 0.0312,
};

test('a run is seen as what runs, the steps of each, what is done, and what it cost so far', () => {
  const view = openIngestView();
  expect(view({ type: 'connection_started', connection: 'shop' })).toEqual({
    step: 'reading shop',
    details: [],
  });
  expect(
    view({ type: 'scan_progressed', connection: 'shop', step: 'profile', done: 3, total: 9 }),
  ).toMatchObject({ step: 'shop: profile', counts: { done: 3, total: 9 } });
  expect(
    view({ type: 'items_fetched', connection: 'handbook', added: 1, changed: 0, gone: 0 }),
  ).toBeUndefined();
  expect(view({ type: 'work_units_planned', stage: 'extract', units: 7 })).toMatchObject({
    step: 'reading prose',
    counts: { done: 0, total: 7 },
  });
  view(started('handbook/a.md'));
  view(started('handbook/b.md'));
  view({ type: 'work_unit_step', unit: 'handbook/b.md', stepIndex: 3, stepBudget: 24 });
  expect(view(usage)).toEqual({
    step: 'reading prose',
    counts: { done: 0, total: 7 },
    details: [
      '  reading handbook/a.md',
      '  reading handbook/b.md · step 3 of 24',
      '  3 calls, 1,734 tokens, $0.0312',
    ],
  });
  const finished = {
    type: 'work_unit_finished',
    unit: 'handbook/b.md',
    outcome: 'natural',
    claims: 4,
    stage: 'extract',
  } as const;
  const after = view(finished);
  expect(after?.counts).toEqual({ done: 1, total: 7 });
  expect(after?.details).toEqual([
    '  reading handbook/a.md',
    '  1 unit done, 4 claims · 3 calls, 1,734 tokens, $0.0312',
  ]);
  expect(view({ type: 'reconcile_step', stepIndex: 2, stepBudget: 20 })?.step).toBe(
    'Reconciling results · step 2',
  );
});

function narrowTerminal(stream: Writable) {
  const terminal = Object.assign(stream, { isTTY: true, columns: 40 });
  const { signal } = new AbortController();
  const host = {
    stdin: process.stdin,
    stdout: terminal,
    stderr: terminal,
    env: {},
    cwd: '',
    signal,
  };
  return { terminal, screen: detectScreen(host, 'table', true) };
}

test('no line of a report breaks inside a word at the edge of the terminal', async () => {
  const report = await ingestHere(shopProject());
  const reason = 'ktx knows no time spine of this project, so it shows only periods with rows';
  const unfit = [{ item: 'sources/dbt/sales.yml', location: 'line 109', reason }];
  const { screen } = narrowTerminal(new Writable());
  const lines = describeIngest({ ...report, unfit }, screen)
    .join('\n')
    .split('\n');
  const tooWide = lines.filter((line) => line.length > 40 && !line.startsWith('  added'));
  expect(tooWide).toEqual([]);
  expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain(reason);
});

test('a failure of several lines keeps them, and none of its characters drives the terminal', async () => {
  const report = await ingestHere(shopProject());
  const [warehouse] = report.connections;
  const failure = new UserError('source_failed', 'It said:\n- no\u001b[2J');
  const failed = {
    ...report,
    connections: [warehouse, warehouse].map((each) => ({ ...each, failure })),
  };
  const lines = describeIngest(failed as typeof report, narrowTerminal(new Writable()).screen);
  const text = stripVTControlCharacters(lines.join('\n'));
  expect(text).toContain('shop: failed\n');
  expect(text).toContain('shop: It said:\n  - no\\u001b[2J\n');
});

test('a terminal has its lines drawn anew, and none is left', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  let said = '';
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => ((said += chunk.toString()), done()),
  });
  const { terminal, screen } = narrowTerminal(stream);
  const line = openProgressLine(terminal, screen);
  line.show({ step: 'reading prose', details: ['  one', '  two'] });
  vi.advanceTimersByTime(1200);
  line.show({ step: 'reading prose', details: ['  two'] });
  vi.advanceTimersByTime(200);
  line.clear();
  vi.useRealTimers();
  expect(said).toContain('\r\u001b[2K… reading prose · 1 s\n  one\n  two');
  expect(said).toContain('\r\u001b[2A\u001b[J… reading prose · 2 s\n  two');
  expect(said.endsWith('\r\u001b[1A\u001b[J')).toBe(true);
});

test('Ctrl-C ends a run at once with 130, and what was finished is kept', async () => {
  const dir = shopProject();
  await ingestHere(dir);
  const head = git(dir, 'rev-parse', 'HEAD');
  const main = join(import.meta.dirname, '../../src/cli/main.ts');
  const code = await withProjectLock(dir, async () => {
    const child = spawn(process.execPath, [main, 'ingest', '--json', '--project-dir', dir]);
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    await vi.waitFor(() => expect(out).toContain('lock_awaited'), 30_000);
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    const [status] = (await ended) as [number];
    expect(JSON.parse(out.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      ok: false,
      error: { code: 'interrupted' },
    });
    return status;
  });
  expect([code, git(dir, 'rev-parse', 'HEAD'), git(dir, 'status', '--porcelain')]).toEqual([
    130,
    head,
    '',
  ]);
});

test('a run took as long as the clock says, though its stages overlap', () => {
  const milliseconds = { describe: 30_000, scan: 22_600 };
  expect(describeTimes({ milliseconds, wallMilliseconds: 39_400 })).toEqual([
    'took 39.4 s: describe 30.0 s, scan 22.6 s',
  ]);
});
