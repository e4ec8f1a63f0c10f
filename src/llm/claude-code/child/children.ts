import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SpawnOptions } from '@anthropic-ai/claude-agent-sdk';
import { openChildFolder } from './child-folder.ts';
import { openWatchdog } from './watchdog.ts';

/** One Claude Code process that ktx started. */
export interface Child {
  /** Why it did not start or how it ended, such as `exit code 1`; undefined while it runs. */
  exitReason(): string | undefined;
  /** Resolves when the process has ended, or has not started. */
  readonly gone: Promise<void>;
  /**
   * What it wrote for a person before it ended: the end of that, in one line. Empty if it wrote
   * nothing.
   */
  lastWords(): Promise<string>;
  /** Asks the process to end, kills it after two seconds, and resolves when it is gone. */
  end(): Promise<void>;
}

export interface Children {
  spawn(options: SpawnOptions): { readonly spawned: ChildProcess; readonly child: Child };
  close(): Promise<void>;
}

const endGraceMs = 2000;
const readGraceMs = 500;
/** Characters. */
const longestWords = 600;

/**
 * Starts Claude Code processes and tracks them until they are gone. They end with `close`, or with
 * this process, however it ends.
 */
export function openChildren(): Children {
  const running = new Map<ChildProcess, Child>();
  const watchdog = openWatchdog();
  const folder = openChildFolder((path) => watchdog.ownFolder(path));
  return {
    spawn({ command, args, cwd, env }) {
      const spawned = spawn(command, args, {
        cwd,
        env: { ...env, ...folder.variables(env) },
        stdio: ['pipe', 'pipe', 'pipe'],
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
      await folder.remove();
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
  let words = '';
  const { promise: allRead, resolve: endReading } = Promise.withResolvers<void>();
  spawned.once('close', () => endReading());
  spawned.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-longestWords);
  });
  // If the pipe breaks because the process ended, its exit says so.
  spawned.stdin?.on('error', () => undefined);
  return {
    exitReason: () => exitReason,
    gone,
    async lastWords() {
      // Something that it started may keep the pipe open.
      await Promise.race([allRead, sleep(readGraceMs, undefined, { ref: false })]);
      return words
        .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
        .replaceAll(/sk-ant-\S+/g, 'sk-ant-…')
        .trim();
    },
    async end() {
      if (exitReason !== undefined) return;
      spawned.kill('SIGTERM');
      const timer = setTimeout(() => void spawned.kill('SIGKILL'), endGraceMs);
      await gone;
      clearTimeout(timer);
    },
  };
}
