import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ReaderReply, ReaderRequest } from './reader-process.ts';

type Answer = Extract<ReaderReply, { ok: true }>;

/**
 * SQLite runs in a process of its own: its calls block, and only killing their process stops them.
 * One request at a time; `stop` ends the one under way (it rejects), the next request starts a new process.
 */
export interface ReaderClient {
  ask(request: ReaderRequest): Promise<Answer>;
  stop(): void;
}

export function startReader(open: ReaderRequest): ReaderClient {
  let child: ChildProcess | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  const ready = async (): Promise<ChildProcess> => {
    if (child?.connected === true) return child;
    const started = spawnReader();
    child = started;
    await exchange(started, open);
    return started;
  };
  const stop = (): void => {
    child?.kill('SIGKILL');
    child = undefined;
  };
  return {
    stop,
    ask(request) {
      const answer = queue.then(async () => exchange(await ready(), request));
      queue = answer.catch(() => undefined);
      return answer;
    },
  };
}

function spawnReader(): ChildProcess {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const path = fileURLToPath(new URL(`./reader-process.${extension}`, import.meta.url));
  const child = fork(path, {
    serialization: 'advanced',
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: 'ignore',
  });
  child.unref();
  child.channel?.unref();
  return child;
}

function exchange(child: ChildProcess, request: ReaderRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      child.off('message', onMessage);
      child.off('exit', onExit);
      child.off('error', onError);
      child.unref();
      child.channel?.unref();
    };
    const onMessage = (reply: unknown): void => {
      settle();
      const { ok, ...rest } = reply as ReaderReply;
      if (ok) resolve({ ok, ...rest });
      else reject(new Error('message' in rest ? rest.message : 'the reader failed'));
    };
    const onExit = (): void => {
      settle();
      reject(new Error('the SQLite reader process ended'));
    };
    const onError = (error: Error): void => {
      settle();
      reject(error);
    };
    child.ref();
    child.channel?.ref();
    child.on('message', onMessage);
    child.on('exit', onExit);
    child.on('error', onError);
    child.send(request);
  });
}
