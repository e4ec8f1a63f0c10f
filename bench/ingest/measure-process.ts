import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

export interface ProcessCost {
  /** User and system time of the program and of all processes below it. */
  readonly cpuSeconds: number;
  /** The most that all of them had in memory at one time, in MB; 0 where there is no `/proc`. */
  readonly peakMegabytes: number;
}

interface LivingProcess {
  readonly parent: number;
  readonly cpuSeconds: number;
  readonly bytes: number;
}

/** Clock ticks a second, and bytes of a page, of Linux on all common machines. */
const ticksPerSecond = 100;
const pageBytes = 4096;
const millisecondsPerLook = 50;

/**
 * Runs a program of Node and counts what it costs. The shell counts the processes that were waited
 * for. A process that outlives ktx, as that of a database engine does, counts as it was last seen.
 * Throws if the program fails.
 */
export async function measureProcess(cwd: string, args: readonly string[]): Promise<ProcessCost> {
  const script = '"$@"; code=$?; times; exit $code';
  const shell = spawn('sh', ['-c', script, 'sh', process.execPath, ...args], { cwd });
  let peakBytes = 0;
  let last = new Map<number, LivingProcess>();
  const look = (): void => {
    const seen = descendantsOf(shell.pid ?? 0);
    // Once ktx has ended, its shell has no child.
    const isRunning = [...seen.values()].some(({ parent }) => parent === shell.pid);
    if (!isRunning) return;
    last = seen;
    const bytes = [...seen.values()].reduce((sum, living) => sum + living.bytes, 0);
    peakBytes = Math.max(peakBytes, bytes);
  };
  const timer = setInterval(look, millisecondsPerLook);
  const output = Promise.all([text(shell.stdout), text(shell.stderr)]);
  const [status] = (await once(shell, 'exit')) as [number | null];
  clearInterval(timer);
  const [stdout, stderr] = await output;
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  const [, user = '', system = ''] = /(\S+) (\S+)\s*$/.exec(stdout) ?? [];
  const outliving = [...last.values()].filter(({ parent }) => parent !== shell.pid);
  const unwaited = outliving.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  return {
    cpuSeconds: parseTime(user) + parseTime(system) + unwaited,
    peakMegabytes: peakBytes / 1_000_000,
  };
}

/** The processes below one, by their ids. */
function descendantsOf(root: number): Map<number, LivingProcess> {
  const processes = listProcesses();
  const isBelow = (id: number): boolean => {
    const parent = processes.get(id)?.parent;
    return parent === root || (parent !== undefined && isBelow(parent));
  };
  return new Map([...processes].filter(([id]) => isBelow(id)));
}

function listProcesses(): Map<number, LivingProcess> {
  const ids = process.platform === 'linux' ? readdirSync('/proc').filter(isNumber) : [];
  return new Map(ids.flatMap((id) => readProcess(id) ?? []));
}

const isNumber = (name: string) => /^\d+$/.test(name);

/** The process as an entry of a map; undefined if it has ended. */
function readProcess(id: string): [[number, LivingProcess]] | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${id}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name, in parentheses, can have spaces.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0, user = 0, system = 0, pages = 0] = [1, 11, 12, 21].map((at) => fields[at]);
  const cpuSeconds = (user + system) / ticksPerSecond;
  return [[Number(id), { parent, cpuSeconds, bytes: pages * pageBytes }]];
}

/** `1m2.34s` in seconds. */
function parseTime(duration: string): number {
  const [, minutes = 'NaN', seconds = 'NaN'] = /^(\d+)m([\d.]+)s$/.exec(duration) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}
