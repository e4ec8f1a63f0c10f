import { type ChildProcess, spawn } from 'node:child_process';

/** Kills children whose parent is gone, and removes their files. */
export interface Watchdog {
  /** A folder to remove once this process is gone. */
  ownFolder(path: string): void;
  add(pid: number): void;
  remove(pid: number): void;
  close(): void;
}

const watchdogProgram = `
const live = new Set();
const folders = new Set();
const orders = {
  '+': (text) => live.add(Number(text)),
  '-': (text) => live.delete(Number(text)),
  '/': (text) => folders.add(JSON.parse(text)),
};
const removeFolders = () => {
  for (const folder of folders)
    try { require('node:fs').rmSync(folder, { recursive: true, force: true, maxRetries: 3 }); }
    catch { /* The system removes it with its temporary files. */ }
};
require('node:readline').createInterface({ input: process.stdin })
  .on('line', (line) => orders[line[0]]?.(line.slice(1)))
  .on('close', () => {
    for (const pid of live)
      try { process.kill(pid, 'SIGKILL'); } catch { /* It has ended by itself. */ }
    // A killed process may be writing until it is gone.
    setTimeout(removeFolders, live.size > 0 ? 300 : 0);
  });
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
    ownFolder: (path) => send(`/${JSON.stringify(path)}`),
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
