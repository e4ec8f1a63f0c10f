import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { run, write } from '../store/git-project.ts';
import { approve } from '../support/approve.ts';
import type { FarEnd } from './api-sources.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** Writes the source into the configuration of a project, and approves it. */
export async function configureSource(dir: string, far: FarEnd): Promise<void> {
  const shop = { driver: 'sqlite', path: 'shop.sqlite' };
  write(dir, 'ktx.yaml', stringify({ connections: { shop, far: far.config } }));
  run(dir, 'commit', '-qam', 'a source');
  await approve(dir, { ...process.env, TOKEN: far.token });
}

interface ProcessEnd {
  /** Null where it was killed. */
  readonly code: number | null;
  readonly milliseconds: number;
  /** The most memory that it had, in MB; 0 where the system does not tell. */
  readonly megabytes: number;
}

/** `ktx ingest far` as a process of its own, killed after so many milliseconds. */
export async function ingestInProcess(
  dir: string,
  far: FarEnd,
  killAfter?: number,
): Promise<ProcessEnd> {
  const start = performance.now();
  const child = spawn(process.execPath, [main, 'ingest', 'far', '--json', '--project-dir', dir], {
    env: { ...process.env, TOKEN: far.token },
    stdio: 'ignore',
  });
  let megabytes = 0;
  const watch = setInterval(() => {
    megabytes = Math.max(megabytes, peakMemory(child.pid));
  }, 50);
  const timer =
    killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(watch);
  clearTimeout(timer);
  return { code, milliseconds: performance.now() - start, megabytes };
}

/**
 * An ingest of the source that kills itself at the publish step of that number, counted from 1.
 * Returns how many steps there were; undefined if it was killed.
 */
export async function ingestUntilStep(
  dir: string,
  far: FarEnd,
  dieAt?: number,
): Promise<number | undefined> {
  const child = join(import.meta.dirname, '../support/publish-source.ts');
  const args = [child, dir, JSON.stringify(far.config), ...(dieAt ? [String(dieAt)] : [])];
  const env = { ...process.env, TOKEN: far.token };
  const ended = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  ended.stdout.on('data', (data) => (printed += String(data)));
  const [code] = (await once(ended, 'close')) as [number | null];
  if (code !== null && code !== 0) throw new Error(`the ingest ended with ${code}`);
  return code === null ? undefined : Number(printed);
}

function peakMemory(pid: number | undefined): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return 0;
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(path, 'utf8')) ?? [];
  return Number(kilobytes) / 1000;
}
