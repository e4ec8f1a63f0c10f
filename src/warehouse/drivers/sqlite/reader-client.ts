import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Limits, withinLimits } from '../../driver.ts';
import type { ReaderReply, ReaderRequest } from './reader-process.ts';

/**
 * SQLite runs in a process of its own: its calls block, and only killing their process stops them.
 * One request at a time. After a kill the next request starts a new process.
 */
export function startReader(path: string, extraFunctions: readonly string[]) {
  let child: ChildProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const stop = (): void => {
    child?.kill('SIGKILL');
    child = undefined;
  };
  return {
    stop,
    ask(request: ReaderRequest, limits: Limits): Promise<unknown> {
      let state: 'waiting' | 'running' | 'stopped' = 'waiting';
      const cancel = (): void => {
        if (state === 'running') stop();
        state = 'stopped';
      };
      return withinLimits({ ...limits, cancel }, () => {
        const answer = last.then(() => {
          if (state === 'stopped') return undefined;
          state = 'running';
          if (child?.connected !== true) child = forkReader([path, ...extraFunctions]);
          return exchange(child, request);
        });
        last = answer.catch(() => undefined);
        return answer;
      });
    },
  };
}

function forkReader(args: readonly string[]): ChildProcess {
  const entry = new URL(`reader-process${extname(import.meta.url)}`, import.meta.url);
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  return fork(fileURLToPath(entry), args, { serialization: 'advanced', execArgv, stdio: 'ignore' });
}

/** The child keeps this process alive while it works, and only then. */
async function exchange(child: ChildProcess, request: ReaderRequest): Promise<unknown> {
  const settled = new AbortController();
  child.ref();
  child.channel?.ref();
  child.send(request);
  const [reply] = (await Promise.race([
    once(child, 'message', settled),
    once(child, 'exit', settled),
  ]).finally(() => {
    settled.abort();
    child.unref();
    child.channel?.unref();
  })) as [ReaderReply | number | null];
  if (typeof reply !== 'object' || reply === null)
    throw new Error('the SQLite reader process ended');
  if (reply.message !== undefined) throw new Error(reply.message);
  return reply.value;
}
