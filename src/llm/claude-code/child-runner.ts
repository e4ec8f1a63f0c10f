import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { CallMonitor } from '../port/backend.ts';
import { LlmError } from '../port/error.ts';
import type { AccountPolicy, ChildAccount } from './account-policy.ts';
import { childOptions, expectedInit, poolKey, type ChildSpec } from './child/child-spec.ts';
import { openChildren } from './child/children.ts';
import { launchChild, type ReadyChild } from './child/launch.ts';
import { openPool } from './child/pool.ts';
import { withChild } from './child/with-child.ts';
import { readConversation, type ConversationResult } from './conversation/conversation.ts';
import type { CheckManaged } from './managed-settings/check-managed-settings.ts';
import type { ExplainExit } from './managed-settings/explain-exit.ts';

interface ChildRunnerOptions {
  readonly projectDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly policy: AccountPolicy;
  /** Path of the program. Throws if none can be used. */
  readonly program: () => Promise<string>;
  /** Throws if managed settings of the machine would take part. */
  readonly checkManaged: CheckManaged;
  readonly explainExit: ExplainExit;
}

type ConversationWithAccount = ConversationResult & { readonly account: ChildAccount };

/** Runs Claude Code children for one backend. */
export interface ChildRunner {
  readonly policy: AccountPolicy;
  /** Starts a child for a session, which ends it itself. */
  start(spec: ChildSpec, signal: AbortSignal): Promise<ReadyChild>;
  /** Sends one prompt to one child and reads the conversation to its end. */
  converse(spec: ChildSpec, prompt: string, monitor: CallMonitor): Promise<ConversationWithAccount>;
  /** The account that a child would use. Nothing is sent. */
  account(spec: ChildSpec, signal: AbortSignal): Promise<ChildAccount>;
  close(): Promise<void>;
}

const idleMs = 30_000;

export function openChildRunner({
  projectDir,
  env,
  policy,
  program,
  checkManaged,
  explainExit,
}: ChildRunnerOptions): ChildRunner {
  const children = openChildren();
  const closing = new AbortController();
  const pool = openPool<ReadyChild>({ most: Math.min(4, availableParallelism()), idleMs });
  const place = { children, cwd: resolve(projectDir), env, policy, checkManaged, explainExit };
  const untilClosed = (signal: AbortSignal) => AbortSignal.any([signal, closing.signal]);
  const start = async (spec: ChildSpec, signal: AbortSignal): Promise<ReadyChild> =>
    launchChild(
      { ...place, program: await program(), options: childOptions(spec) },
      untilClosed(signal),
    );

  return {
    policy,
    start,
    async converse(spec, prompt, monitor) {
      const signal = untilClosed(monitor.signal);
      const key = poolKey(spec);
      const startAnother = (stop: AbortSignal): Promise<ReadyChild> => start(spec, stop);
      const take = (): Promise<ReadyChild> =>
        key === undefined ? startAnother(signal) : pool.take(key, startAnother, signal);
      // Start the next child while the model writes: this process has nothing else to do then.
      const requestSent = (): void => {
        if (key !== undefined) pool.refill(key, startAnother);
        monitor.requestSent();
      };
      const heartbeats = keepAlive(monitor);
      const ask = async (child: ReadyChild): Promise<ConversationWithAccount> => {
        heartbeats.stop();
        const query = await child.ask(prompt);
        const conversation = await readConversation(query, {
          expected: expectedInit(spec),
          policy,
          stepBudget: spec.stepBudget,
          monitor: { ...monitor, requestSent },
        });
        return { ...conversation, account: await child.account() };
      };
      try {
        return await withChild(take, ask, signal);
      } finally {
        heartbeats.stop();
        if (key !== undefined) pool.release(key);
      }
    },
    account(spec, signal) {
      const stop = untilClosed(signal);
      return withChild(
        () => start(spec, stop),
        (child) => child.account(),
        stop,
      );
    },
    async close() {
      closing.abort(new LlmError('aborted', 'The backend was closed.'));
      await pool.close();
      await children.close();
    },
  };
}

/** Keeps the idle clock running while a child starts: the start has a shorter limit of its own. */
export function keepAlive(monitor: CallMonitor): { stop(): void } {
  const timer = setInterval(() => monitor.heartbeat(), 1000);
  return {
    stop() {
      clearInterval(timer);
      monitor.heartbeat();
    },
  };
}
