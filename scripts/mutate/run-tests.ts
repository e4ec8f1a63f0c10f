import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';

export interface TestRun {
  readonly outcome: 'passed' | 'failed' | 'timeout' | 'interrupted';
  readonly ms: number;
  /** The first test that failed. */
  readonly failure?: string;
}

interface TestRunOptions {
  /** A copy of the project, in a folder that holds nothing else. */
  readonly project: string;
  /** Files below `test/`. */
  readonly tests: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The last line of vitest. */
const summary = /^ *Duration /m;

/**
 * Runs tests in a process group of their own, with temporary files of their own. Nothing of either
 * is left at the end, whatever a fault in the program let run on.
 */
export async function runTests(options: TestRunOptions): Promise<TestRun> {
  const started = performance.now();
  const run = await spawnTests(options);
  return { ...run, ms: performance.now() - started };
}

async function spawnTests({
  project,
  tests,
  env,
  signal,
  timeoutMs,
}: TestRunOptions): Promise<Omit<TestRun, 'ms'>> {
  const temporary = mkdtempSync(join(dirname(project), 'temporary-'));
  const vitest = join(project, 'node_modules/vitest/vitest.mjs');
  const files = tests.map((file) => `test/${file}`);
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--bail=1', '--maxWorkers=1', '--reporter=dot', ...files],
    {
      cwd: project,
      env: {
        ...env,
        KTX_SUITES: 'all',
        TMPDIR: temporary,
        PATH: `${dirname(process.execPath)}:${env['PATH'] ?? ''}`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  );
  const kill = (): void => killGroup(child);
  const timer = setTimeout(kill, timeoutMs);
  signal.addEventListener('abort', kill);
  const output = Promise.all([readUntilSummary(child.stdout, kill), text(child.stderr)]);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    // What is left of the group holds the pipes open, so it ends before they are read to their end.
    kill();
    const printed = stripVTControlCharacters((await output).join('\n'));
    if (signal.aborted) return { outcome: 'interrupted' };
    if (printed.includes('No test files found'))
      throw new Error(`No such tests: ${files.join(', ')}`);
    if (code === null && !summary.test(printed)) return { outcome: 'timeout' };
    const isPassed = code === 0 || (code === null && !/^ *(FAIL|Errors) /m.test(printed));
    return isPassed ? { outcome: 'passed' } : { outcome: 'failed', failure: findFailure(printed) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
    killProcessesOf(dirname(project));
    rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
  }
}

/**
 * Vitest waits for ever for a process that a test left running: `kill` is called soon after its
 * last line.
 */
async function readUntilSummary(stream: Readable, kill: () => void): Promise<string> {
  let printed = '';
  let timer: NodeJS.Timeout | undefined;
  for await (const chunk of stream.setEncoding('utf8')) {
    printed += String(chunk);
    if (summary.test(stripVTControlCharacters(printed))) timer ??= setTimeout(kill, 1000);
  }
  clearTimeout(timer);
  return printed;
}

/**
 * Ends the processes that left the group: the files that they run, or their temporary files, are
 * below `folder`. Where there is no /proc, none is found.
 */
function killProcessesOf(folder: string): void {
  for (const pid of existsSync('/proc') ? readdirSync('/proc') : []) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const isOf = ['cmdline', 'environ'].some((file) =>
      readProcessFile(pid, file).includes(`${folder}/`),
    );
    if (isOf) killIfRunning(Number(pid));
  }
}

/** Empty if the process has ended meanwhile or belongs to somebody else. */
function readProcessFile(pid: string, file: string): string {
  try {
    return readFileSync(join('/proc', pid, file), 'utf8');
  } catch {
    return '';
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) killIfRunning(-pid);
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function findFailure(printed: string): string {
  const line = /^\s*FAIL\s+(.+)$/m.exec(printed)?.[1];
  return line?.replace(/^test\//, '') ?? printed.trim().split('\n').slice(-3).join(' ');
}
