import { globSync, readFileSync, readlinkSync } from 'node:fs';

/** Linux: what /proc says about processes. A process that is gone has no content. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Fields after the name, which may hold spaces: state, parent … */
const statFields = (pid: number): string[] =>
  read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];

/** Seconds that the process has computed; 0 if it is gone. */
export function cpuSeconds(pid: number): number {
  const fields = statFields(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

/** The processes that the process started and that run still. */
export function childrenOf(parent: number): number[] {
  const pids = globSync('/proc/[0-9]*').map((path) => Number(path.split('/')[2]));
  return pids.filter((pid) => {
    const [state, parentOf] = statFields(pid);
    return Number(parentOf) === parent && state !== 'Z';
  });
}

/** A process that has ended but that nobody has waited for yet does not run. */
export function isRunning(pid: number): boolean {
  const [state] = statFields(pid);
  return state !== undefined && state !== '' && state !== 'Z';
}

/** The processes that have the file open. */
export function processesWith(file: string): number[] {
  const openFiles = globSync('/proc/[0-9]*/fd/*').filter((link) => {
    try {
      return readlinkSync(link) === file;
    } catch {
      return false;
    }
  });
  return [...new Set(openFiles.map((link) => Number(link.split('/')[2])))];
}

const megabytes = (pid: number, key: string): number =>
  Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;

/** What the process has in memory, in MB. */
export const memoryOf = (pid: number): number => megabytes(pid, 'VmRSS');

/** The most that the process ever had in memory, in MB. */
export const peakMemoryOf = (pid: number): number => megabytes(pid, 'VmHWM');

export const environmentOf = (pid: number): string[] =>
  read(`/proc/${pid}/environ`).split('\0').filter(Boolean);
