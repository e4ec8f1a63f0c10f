import { type ChildProcess, spawn } from 'node:child_process';
import type { SpawnOptions } from '@anthropic-ai/claude-agent-sdk';

/** One Claude Code process of ours. */
export interface Child {
  readonly pid: number | undefined;
  /** Why it did not start, or how it went. */
  fate(): string | undefined;
  /** Resolves when it is gone; it is asked first, and killed after two seconds. */
  end(): Promise<void>;
}

export interface Children {
  spawn(options: SpawnOptions): { readonly spawned: ChildProcess; readonly child: Child };
  /** Ids of those that live. */
  pids(): readonly number[];
  close(): Promise<void>;
}

const graceMs = 2000;

/**
 * Starts Claude Code processes and knows each until it is gone. They end with `close`, with the exit of this process,
 * and, should it crash, with the end of their standard input, which only this process holds open.
 */
export function openChildren(): Children {
  const live = new Map<ChildProcess, Child>();
  const killAll = (): void => live.forEach((_, spawned) => void spawned.kill('SIGKILL'));
  process.on('exit', killAll);
  return {
    spawn({ command, args, cwd, env }) {
      const spawned = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true });
      const child = childOf(spawned);
      live.set(spawned, child);
      const forget = (): void => void live.delete(spawned);
      spawned.once('exit', forget);
      spawned.once('error', forget);
      return { spawned, child };
    },
    pids: () => [...live.values()].flatMap(({ pid }) => pid ?? []),
    async close() {
      await Promise.all([...live.values()].map((child) => child.end()));
      process.off('exit', killAll);
    },
  };
}

function childOf(spawned: ChildProcess): Child {
  const { promise: gone, resolve } = Promise.withResolvers<string>();
  let fate: string | undefined;
  const settle = (how: string): void => resolve((fate ??= how));
  spawned.once('exit', (code, signal) => settle(signal === null ? `exit code ${code}` : `signal ${signal}`));
  spawned.once('error', ({ message }) => settle(message));
  // A pipe that breaks because the process went is told by its exit.
  spawned.stdin?.on('error', () => undefined);
  return {
    pid: spawned.pid,
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
