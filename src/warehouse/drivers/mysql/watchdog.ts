import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programEnvironment } from '../../engine-process/program-environment.ts';
import type { MysqlSettings } from './settings.ts';
import type { WatchdogMessage } from './watchdog-process.ts';

/**
 * Ends the statements of this process on the server if this process is gone before they are. MySQL
 * notices a lost client only when it sends the result. Statements run without the watchdog too.
 */
export function openWatchdog(settings: MysqlSettings) {
  let watchdog: ChildProcess | undefined;
  const send = (message: WatchdogMessage): void => {
    if (watchdog?.connected === true) watchdog.send(message, () => undefined);
  };
  return {
    /** `thread` is the server's number of the connection that runs the statement. */
    statementStarted(thread: number): void {
      if (watchdog === undefined) {
        watchdog = forkWatchdog();
        send({ settings });
      }
      send({ started: thread });
    },
    statementEnded: (thread: number): void => send({ ended: thread }),
    close(): void {
      if (watchdog?.connected === true) watchdog.disconnect();
    },
  };
}

function forkWatchdog(): ChildProcess {
  const entry = new URL(`watchdog-process${extname(import.meta.url)}`, import.meta.url);
  // Detached, so that Ctrl-C in the terminal does not end the watchdog too.
  const child = fork(fileURLToPath(entry), [], {
    detached: true,
    serialization: 'advanced',
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: programEnvironment(),
  });
  child.on('error', () => undefined);
  child.unref();
  child.channel?.unref();
  return child;
}
