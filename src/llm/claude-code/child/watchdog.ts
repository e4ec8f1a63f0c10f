import { type ChildProcess, spawn } from 'node:child_process';

/** Ends children whose parent is gone. */
export interface Watchdog {
  add(pid: number): void;
  remove(pid: number): void;
  close(): void;
}

const program = `
const live = new Set();
require('node:readline').createInterface({ input: process.stdin })
  .on('line', (line) => (line[0] === '+' ? live.add(Number(line.slice(1))) : live.delete(Number(line.slice(1)))))
  .on('close', () => live.forEach((pid) => { try { process.kill(pid, 'SIGKILL'); } catch {} }));
`;

/**
 * A small process that outlives this one by an instant: once the pipe between them breaks, it kills what is left. A child
 * that waits for the model does not notice that its parent is gone, and would go on for minutes.
 */
export function openWatchdog(): Watchdog {
  let dog: ChildProcess | undefined;
  const say = (line: string): void => {
    dog ??= start();
    dog.stdin?.write(`${line}\n`);
  };
  return {
    add: (pid) => say(`+${pid}`),
    remove: (pid) => say(`-${pid}`),
    close() {
      dog?.stdin?.end();
      dog = undefined;
    },
  };
}

function start(): ChildProcess {
  // Detached: what interrupts this process by its terminal must not take the dog along.
  const dog = spawn(process.execPath, ['-e', program], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    windowsHide: true,
    env: { SystemRoot: process.env['SystemRoot'] },
  });
  dog.unref();
  // Without it there is one safeguard less; the calls themselves can do without.
  dog.on('error', () => undefined);
  dog.stdin?.on('error', () => undefined);
  return dog;
}
