import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CallLimits, withTimeLimit } from '../../time-limit.ts';
import type { ReaderReply, ReaderRequest } from './reader-process.ts';

/**
 * Runs SQLite in a process of its own: its calls block, and only killing the process stops them. Takes one request at a time.
 * After a kill the next request starts a new process.
 */
export function startReader(path: string, extraFunctions: readonly string[]) {
  let child: ChildProcess | undefined;
  let lastRequest: Promise<unknown> = Promise.resolve();
  const stop = (): void => {
    child?.kill('SIGKILL');
    child = undefined;
  };
  return {
    stop,
    send(request: ReaderRequest, limits: CallLimits): Promise<unknown> {
      let state: 'waiting' | 'running' | 'stopped' = 'waiting';
      const cancel = (): void => {
        if (state === 'running') stop();
        state = 'stopped';
      };
      return withTimeLimit({ ...limits, cancel }, () => {
        const reply = lastRequest.then(() => {
          if (state === 'stopped') return undefined;
          state = 'running';
          if (child?.connected !== true) child = forkReader([path, ...extraFunctions]);
          return exchangeMessages(child, request);
        });
        lastRequest = reply.catch(() => undefined);
        return reply;
      });
    },
  };
}

function forkReader(args: readonly string[]): ChildProcess {
  const entry = new URL(`reader-process${extname(import.meta.url)}`, import.meta.url);
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  return fork(fileURLToPath(entry), args, { serialization: 'advanced', execArgv, stdio: 'ignore' });
}

/** The child keeps this process alive only while it works. */
async function exchangeMessages(child: ChildProcess, request: ReaderRequest): Promise<unknown> {
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
  // An exit code is not an object.
  if (typeof reply !== 'object' || reply === null)
    throw new Error('the SQLite reader process ended');
  if (reply.errorMessage !== undefined) throw new Error(reply.errorMessage);
  return reply.value;
}
