import { type ChildProcess, spawn } from 'node:child_process';
import type { SpawnOptions } from '@anthropic-ai/claude-agent-sdk';
import { openWatchdog } from './watchdog.ts';

/** One Claude Code process of ours. */
export interface Child {
  /** Why it did not start, or how it went. */
  fate(): string | undefined;
  /** Resolves when it is gone; it is asked first, and killed after two seconds. */
  end(): Promise<void>;
}

export interface Children {
  spawn(options: SpawnOptions): { readonly spawned: ChildProcess; readonly child: Child };
  close(): Promise<void>;
}

const graceMs = 2000;

/** Starts Claude Code processes and knows each until it is gone: by `close`, or with this process, however it ends. */
export function openChildren(): Children {
  const live = new Map<ChildProcess, Child>();
  const watchdog = openWatchdog();
  return {
    spawn({ command, args, cwd, env }) {
      const spawned = spawn(command, args, {
        cwd,
        env,
        stdio: ['pipe', 'pipe', 'ignore'],
        windowsHide: true,
      });
      const child = childOf(spawned);
      const { pid } = spawned;
      live.set(spawned, child);
      if (pid !== undefined) watchdog.add(pid);
      spawned.once('error', () => void live.delete(spawned));
      spawned.once('exit', () => {
        live.delete(spawned);
        if (pid !== undefined) watchdog.remove(pid);
      });
      return { spawned, child };
    },
    async close() {
      await Promise.all([...live.values()].map((child) => child.end()));
      watchdog.close();
    },
  };
}

function childOf(spawned: ChildProcess): Child {
  const { promise: gone, resolve } = Promise.withResolvers<string>();
  let fate: string | undefined;
  const settle = (how: string): void => resolve((fate ??= how));
  spawned.once('exit', (code, signal) =>
    settle(signal === null ? `exit code ${code}` : `signal ${signal}`),
  );
  spawned.once('error', ({ message }) => settle(message));
  // A pipe that breaks because the process went is told by its exit.
  spawned.stdin?.on('error', () => undefined);
  return {
    fate: () => fate,
    async end() {
      if (fate !== undefined) return;
      spawned.kill('SIGTERM');
      const timer = setTimeout(() => void spawned.kill('SIGKILL'), graceMs);
      await gone;
      clearTimeout(timer);
    },
  };
}
