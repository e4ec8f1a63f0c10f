import { resolve } from 'node:path';
import type { CallMonitor } from '../port/backend.ts';
import { LlmError } from '../port/error.ts';
import type { AccountPolicy, ChildAccount } from './account-policy.ts';
import {
  childOptions,
  childVariables,
  expectedInit,
  poolKey,
  specHasTools,
  type ChildSpec,
} from './child/child-spec.ts';
import { canClear } from './child/clear-conversation.ts';
import { openChildren } from './child/children.ts';
import { launchChild, type LaunchOptions, type ReadyChild } from './child/launch.ts';
import { openPool, type Pool } from './child/pool.ts';
import { withChild } from './child/with-child.ts';
import { AnswerGate } from './conversation/answer-gate.ts';
import { readConversation } from './conversation/conversation.ts';
import type { ConversationResult } from './conversation/result-facts.ts';
import type { CheckManaged } from './managed-settings/check-managed-settings.ts';
import type { ExplainExit } from './managed-settings/explain-exit.ts';
import type { ToolDesk } from './tool-server.ts';

interface ChildRunnerOptions {
  readonly projectDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly policy: AccountPolicy;
  /** Path of the program. Throws if none can be used. */
  readonly program: () => Promise<string>;
  /** Throws if managed settings of the machine would take part. */
  readonly checkManaged: CheckManaged;
  readonly explainExit: ExplainExit;
  /** Maximum number of children, beside those of sessions. */
  readonly concurrency: number;
}

type ConversationWithAccount = ConversationResult & { readonly account: ChildAccount };

/** A child, and the call whose tools it has at the moment. */
export interface ServingChild extends ReadyChild {
  readonly desk: ToolDesk;
}

/** Runs Claude Code children for one backend. */
export interface ChildRunner {
  readonly policy: AccountPolicy;
  /** Starts a child for a session, which ends it itself. */
  start(spec: ChildSpec, signal: AbortSignal): Promise<ServingChild>;
  /** Sends one prompt to one child and reads the conversation to its end. */
  converse(spec: ChildSpec, prompt: string, monitor: CallMonitor): Promise<ConversationWithAccount>;
  /** The account that a child would use. Nothing is sent, and the child waits for such a call. */
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
  concurrency,
}: ChildRunnerOptions): ChildRunner {
  const children = openChildren();
  const closing = new AbortController();
  const pool = openPool<ServingChild>({ most: concurrency, idleMs });
  const place = { children, cwd: resolve(projectDir), env, policy, checkManaged, explainExit };
  const reuse: Reuse = { isPossible: undefined };
  const untilClosed = (signal: AbortSignal) => AbortSignal.any([signal, closing.signal]);
  const start = (spec: ChildSpec, signal: AbortSignal): Promise<ServingChild> =>
    startChild(place, program, { spec, signal: untilClosed(signal) });

  return {
    policy,
    start,
    converse(spec, prompt, monitor) {
      const context = { pool, reuse, policy, start, signal: untilClosed(monitor.signal) };
      const gate = new AnswerGate();
      const conversation = { spec, gate, prompt, monitor };
      return untilAnswered(() => converseInPool(context, conversation), monitor);
    },
    account: (spec, signal) => accountInPool({ pool, start, signal: untilClosed(signal) }, spec),
    async close() {
      closing.abort(new LlmError('aborted', 'The backend was closed.'));
      await pool.close();
      await children.close();
    },
  };
}

/** What a runner learns from its first answer. */
interface Reuse {
  /** Whether children of this program can serve several calls. */
  isPossible: boolean | undefined;
}

interface RunnerContext extends Pick<ChildRunner, 'policy' | 'start'> {
  readonly pool: Pool<ServingChild>;
  readonly reuse: Reuse;
  readonly signal: AbortSignal;
}

interface Conversation {
  readonly spec: ChildSpec;
  readonly gate: AnswerGate;
  readonly prompt: string;
  readonly monitor: CallMonitor;
}

/** Takes a child of the pool for one call, and gives it back if it can serve another. */
async function converseInPool(
  { pool, reuse, policy, start, signal }: RunnerContext,
  { spec, gate, prompt, monitor }: Conversation,
): Promise<ConversationWithAccount> {
  const key = poolKey(spec);
  const isShared = spec.isSingleUse !== true;
  const startAnother = (stop: AbortSignal): Promise<ServingChild> => start(spec, stop);
  let isInUse = false;
  const take = async (): Promise<ServingChild> => {
    const child = await pool.take(key, startAnother, signal);
    isInUse = true;
    return child;
  };
  // Calls with tools take longer than a start, and fewer of them follow each other.
  const isStartedAhead = isShared && !specHasTools(spec);
  // Start the next child while the model writes: this process has nothing else to do then.
  const requestSent: CallMonitor['requestSent'] = (isAnswering) => {
    if (isStartedAhead && reuse.isPossible === false) pool.refill(key, startAnother);
    monitor.requestSent(isAnswering);
  };
  const afterwards = (child: ServingChild, conversation: ConversationResult): void => {
    reuse.isPossible = canClear(conversation.version);
    isInUse = false;
    if (isShared && reuse.isPossible && hasAnswered(conversation)) pool.keep(key, restarted(child));
    else pool.release(child.end());
  };
  const heartbeats = keepAlive(monitor);
  const ask = async (child: ServingChild): Promise<ConversationWithAccount> => {
    heartbeats.stop();
    child.desk.call = { tools: spec.tools, gate };
    const query = await child.ask(prompt);
    const conversation = await readConversation(query, {
      expected: expectedInit(spec),
      policy,
      stepBudget: spec.stepBudget,
      monitor: { ...monitor, requestSent },
      gate,
      gone: child.gone,
      ask: (next) => child.ask(next),
      startsOver: true,
    });
    return { ...conversation, account: await child.account() };
  };
  try {
    return await withChild(take, ask, { signal, afterwards });
  } finally {
    heartbeats.stop();
    if (isInUse) pool.release();
  }
}

/** Takes a child of the pool, and gives it back: nothing was sent to it. */
async function accountInPool(
  { pool, start, signal }: Pick<RunnerContext, 'pool' | 'start' | 'signal'>,
  spec: ChildSpec,
): Promise<ChildAccount> {
  const key = poolKey(spec);
  let isInUse = false;
  const take = async (): Promise<ServingChild> => {
    const child = await pool.take(key, (stop) => start(spec, stop), signal);
    isInUse = true;
    return child;
  };
  const afterwards = (child: ServingChild): void => {
    isInUse = false;
    pool.keep(key, Promise.resolve(child));
  };
  try {
    return await withChild(take, (child) => child.account(), { signal, afterwards });
  } finally {
    if (isInUse) pool.release();
  }
}

/** The child with a cleared conversation; undefined, and ended, if that did not work. */
async function restarted(child: ServingChild): Promise<ServingChild | undefined> {
  if (await child.startOver()) return child;
  await child.end();
  return undefined;
}

/** True if the program gave its whole answer. Otherwise it may still be at work. */
const hasAnswered = ({ facts }: ConversationResult): boolean =>
  facts?.subtype === 'success' && !facts.isError;

/**
 * Makes the call again with another child, as often as the governor allows, while nothing was done.
 */
async function untilAnswered(
  converse: () => Promise<ConversationWithAccount>,
  monitor: CallMonitor,
): Promise<ConversationWithAccount> {
  for (;;) {
    const conversation = await converse();
    if (conversation.unanswered === undefined) return conversation;
    await monitor.retry(conversation.unanswered);
    monitor.listener?.startedAgain();
  }
}

/** Starts a child with what its spec needs. */
async function startChild(
  place: Omit<LaunchOptions, 'program' | 'options'>,
  program: () => Promise<string>,
  { spec, signal }: { readonly spec: ChildSpec; readonly signal: AbortSignal },
): Promise<ServingChild> {
  const env = { ...place.env, ...childVariables(spec) };
  const desk: ToolDesk = { call: { tools: spec.tools } };
  const options = childOptions(spec, desk);
  const child = await launchChild({ ...place, env, program: await program(), options }, signal);
  return { ...child, desk };
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
