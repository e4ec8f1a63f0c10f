import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { run } from '../../store/git-project.ts';
import { approve } from '../../support/approve.ts';

const main = join(import.meta.dirname, '../../../src/cli/main.ts');

/** The hash of all files of the last commit: equal for equal bytes. */
export function treeOf(dir: string): string {
  return run(dir, 'rev-parse', 'HEAD^{tree}');
}

/** `ktx worker` in a process of its own; `ready` when it waits for work. */
export async function startWorker(
  dir: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
) {
  await approve(dir);
  const child = spawn(process.execPath, [main, 'worker', '--project-dir', dir, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  let said = '';
  const ready = new Promise<void>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Waiting for work')) resolve();
    });
  });
  const ended = once(child, 'close');
  await Promise.race([ready, ended]);
  return {
    said: () => said,
    kill: (signal: NodeJS.Signals = 'SIGKILL') => endOf(child, ended, signal),
    async [Symbol.asyncDispose](): Promise<void> {
      await endOf(child, ended, 'SIGKILL');
    },
  };
}

async function endOf(
  child: ChildProcess,
  ended: Promise<unknown[]>,
  signal: NodeJS.Signals,
): Promise<number | null> {
  child.kill(signal);
  await ended;
  return child.exitCode;
}

/** `ktx ingest --queue` in a process of its own. */
export async function startIngest(dir: string, args: readonly string[] = ['--queue']) {
  await approve(dir);
  const child = spawn(process.execPath, [main, 'ingest', ...args, '--json', '--project-dir', dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = readAll(child.stdout);
  const ended = once(child, 'close');
  return {
    kill: () => endOf(child, ended, 'SIGKILL'),
    async end(): Promise<{ readonly code: number | null; readonly data: Record<string, unknown> }> {
      await ended;
      const lines = (await output).trimEnd().split('\n');
      const envelope = JSON.parse(lines.at(-1) ?? '{}') as Record<'data' | 'error', object>;
      return { code: child.exitCode, data: { ...envelope.data, error: envelope.error } };
    },
  };
}
