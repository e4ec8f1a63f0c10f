import { type ChildProcess, spawn } from 'node:child_process';
import type { SpawnOptions } from '@anthropic-ai/claude-agent-sdk';
import { openWatchdog } from './watchdog.ts';

/** One Claude Code process that ktx started. */
export interface Child {
  /** Why it did not start or how it ended, such as `exit code 1`; undefined while it runs. */
  exitReason(): string | undefined;
  /** Asks the process to end, kills it after two seconds, and resolves when it is gone. */
  end(): Promise<void>;
}

export interface Children {
  spawn(options: SpawnOptions): { readonly spawned: ChildProcess; readonly child: Child };
  close(): Promise<void>;
}

const endGraceMs = 2000;

/**
 * Starts Claude Code processes and tracks them until they are gone. They end with `close`, or with
 * this process, however it ends.
 */
export function openChildren(): Children {
  const running = new Map<ChildProcess, Child>();
  const watchdog = openWatchdog();
  return {
    spawn({ command, args, cwd, env }) {
      const spawned = spawn(command, args, {
        cwd,
        env,
        stdio: ['pipe', 'pipe', 'ignore'],
        windowsHide: true,
      });
      const child = trackChild(spawned);
      const { pid } = spawned;
      running.set(spawned, child);
      if (pid !== undefined) watchdog.add(pid);
      spawned.once('error', () => void running.delete(spawned));
      spawned.once('exit', () => {
        running.delete(spawned);
        if (pid !== undefined) watchdog.remove(pid);
      });
      return { spawned, child };
    },
    async close() {
      await Promise.all([...running.values()].map((child) => child.end()));
      watchdog.close();
    },
  };
}

function trackChild(spawned: ChildProcess): Child {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  let exitReason: string | undefined;
  const settle = (reason: string): void => {
    exitReason ??= reason;
    resolve();
  };
  spawned.once('exit', (code, signal) =>
    settle(signal === null ? `exit code ${code}` : `signal ${signal}`),
  );
  spawned.once('error', ({ message }) => settle(message));
  // If the pipe breaks because the process ended, its exit says so.
  spawned.stdin?.on('error', () => undefined);
  return {
    exitReason: () => exitReason,
    async end() {
      if (exitReason !== undefined) return;
      spawned.kill('SIGTERM');
      const timer = setTimeout(() => void spawned.kill('SIGKILL'), endGraceMs);
      await gone;
      clearTimeout(timer);
    },
  };
}
