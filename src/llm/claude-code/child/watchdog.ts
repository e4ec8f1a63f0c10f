import { type ChildProcess, spawn } from 'node:child_process';

/** Kills children whose parent is gone. */
export interface Watchdog {
  add(pid: number): void;
  remove(pid: number): void;
  close(): void;
}

const watchdogProgram = `
const live = new Set();
require('node:readline').createInterface({ input: process.stdin })
  .on('line', (line) => (line[0] === '+' ? live.add(Number(line.slice(1))) : live.delete(Number(line.slice(1)))))
  .on('close', () => live.forEach((pid) => {
    try { process.kill(pid, 'SIGKILL'); } catch { /* It has ended by itself. */ }
  }));
`;

/**
 * Starts a small process beside this one. When the pipe between them breaks, this process is gone,
 * and the watchdog kills the children that are left. A child that waits for the model does not
 * notice that its parent is gone, and would run on for minutes.
 */
export function openWatchdog(): Watchdog {
  let watchdog: ChildProcess | undefined;
  const send = (line: string): void => {
    watchdog ??= startWatchdog();
    watchdog.stdin?.write(`${line}\n`);
  };
  return {
    add: (pid) => send(`+${pid}`),
    remove: (pid) => send(`-${pid}`),
    close() {
      watchdog?.stdin?.end();
      watchdog = undefined;
    },
  };
}

function startWatchdog(): ChildProcess {
  // Detached, so that Ctrl-C in the terminal does not end the watchdog too.
  const watchdog = spawn(process.execPath, ['-e', watchdogProgram], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    windowsHide: true,
    env: { SystemRoot: process.env['SystemRoot'] },
  });
  watchdog.unref();
  // Calls work without the watchdog too.
  watchdog.on('error', () => undefined);
  watchdog.stdin?.on('error', () => undefined);
  return watchdog;
}
