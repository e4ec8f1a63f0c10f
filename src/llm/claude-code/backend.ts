import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { check } from '../../lib/schema-check.ts';
import type { AccountReport, BackendCall, BackendSession, CallWatch, LoopCall, ModelBackend, SessionCall } from '../backend.ts';
import type { PromptCaching } from '../config.ts';
import { LlmError } from '../error.ts';
import { openChildren } from './children.ts';
import { type Conversation, endOf, follow } from './conversation.ts';
import { childEnv } from './env.ts';
import { cachingEnv } from './ignored-settings.ts';
import { type Account, checkAccount } from './isolation.ts';
import { launch, type Launched } from './launch.ts';
import { expectedOf, hasTools, optionsOf, type Order, poolKey } from './order.ts';
import { openPool } from './pool.ts';
import { bundledProgram } from './program.ts';
import { openClaudeSession } from './session.ts';
import { used } from './use-child.ts';

export interface ClaudeCodeOptions {
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly promptCaching?: PromptCaching | undefined;
  /** In place of the program that ships with the Agent SDK. */
  readonly executable?: string | undefined;
}

/** Foreign text never begins a message: a leading slash would run a command. */
const promptHeader = 'A task from ktx follows.';
const headed = (text: string): string => `${promptHeader}\n\n${text}`;
const idleMs = 30_000;

/** The user's own local Claude Code session. Children are started as needed, and ahead for calls without tools. */
export function openClaudeCodeBackend({ projectDir, env, promptCaching, executable }: ClaudeCodeOptions): ModelBackend {
  const children = openChildren();
  const closing = new AbortController();
  const pool = openPool<Launched>({ most: Math.min(4, availableParallelism()), idleMs });
  const place = {
    children,
    program: executable ?? bundledProgram(),
    cwd: resolve(projectDir),
    env: childEnv(env, cachingEnv(promptCaching)),
  };
  const start = (order: Order, signal: AbortSignal): Promise<Launched> => launch({ ...place, options: optionsOf(order) }, signal);
  const until = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, closing.signal]);

  return adapter({
    account: (order, signal) => used(() => start(order, until(signal)), (child) => child.account(), until(signal)), // prettier-ignore
    async converse(order, prompt, watch) {
      const signal = until(watch.signal);
      const key = poolKey(order);
      const again = (stop: AbortSignal): Promise<Launched> => start(order, stop);
      const take = (): Promise<Launched> => (key === undefined ? again(signal) : pool.take(key, again, signal));
      // The next child starts while the model writes: nothing else is to do then.
      const refill = (): void => {
        if (key !== undefined) pool.refill(key, again);
        watch.apiCall();
      };
      // A child that starts is no model that is silent; its own clock is shorter.
      const starting = setInterval(() => watch.alive(), 1000);
      const ask = async (child: Launched): Promise<Answered> => {
        clearInterval(starting);
        watch.alive();
        const query = await child.ask(headed(prompt));
        const { stepBudget } = order;
        const conversation = await follow(query, { expected: expectedOf(order), stepBudget, watch: { ...watch, apiCall: refill } });
        return { ...conversation, account: await child.account() };
      };
      try {
        return await used(take, ask, signal);
      } finally {
        clearInterval(starting);
        if (key !== undefined) pool.done(key);
      }
    },
    open: (call) => openClaudeSession({ start: (order, signal) => start(order, until(signal)), headed }, call),
    async close() {
      closing.abort(new LlmError('aborted', 'The backend was closed.'));
      await pool.close();
      await children.close();
    },
  });
}

type Answered = Conversation & { readonly account: Account };

interface Session {
  converse(order: Order, prompt: string, watch: CallWatch): Promise<Answered>;
  account(order: Order, signal: AbortSignal): Promise<Account>;
  open(call: SessionCall): BackendSession;
  close(): Promise<void>;
}

function adapter(session: Session): ModelBackend {
  return {
    async text(call) {
      const stepBudget = hasTools(call) ? call.stepBudget : 1;
      const { facts } = await finished(session, call, { stepBudget });
      if (facts === undefined || facts.text.trim() === '') throw new LlmError('invalid_output', 'The model answered without any text.');
      return facts.text;
    },
    async object({ schema, ...call }) {
      const asked = z.toJSONSchema(schema, { target: 'draft-7', io: 'input', unrepresentable: 'any' });
      const { object } = await finished(session, call, { stepBudget: Math.max(2, call.stepBudget), schema: asked });
      if (object === undefined) throw new LlmError('invalid_output', 'The model ended without the object that it was asked for.');
      const { data, problems } = check(schema, object.value);
      if (problems === undefined) return data;
      const where = problems.slice(0, 3).map(({ path, message }) => `${path.join('.') || 'object'}: ${message}`);
      throw new LlmError('invalid_output', `The model gave an object that does not fit: ${where.join('; ')}.`);
    },
    async loop(call) {
      const conversation = await converse(session, call, { stepBudget: call.stepBudget });
      const { facts, text } = conversation;
      const stopReason = endOf(conversation);
      return { stopReason, text: stopReason === 'natural' ? (facts?.text ?? text) : text };
    },
    session: (call) => session.open(call),
    async probe(model, signal) {
      const conversation = await session.converse(plainOrder(model), 'Answer with the one word: ready', silentWatch(signal));
      endOf(conversation);
      return { model: conversation.model ?? model, account: reportOf(conversation.account) };
    },
    account: async (signal) => reportOf(await session.account(plainOrder('sonnet'), signal)),
    close: () => session.close(),
  };
}

type Limits = Pick<Order, 'stepBudget' | 'schema'>;

function converse(session: Session, call: BackendCall | LoopCall, limits: Limits): Promise<Conversation> {
  const { model, role, system = '', tools, temperature, prompt, watch } = call;
  if (temperature !== undefined) watch.warn('Claude Code sets the temperature itself: the temperature given has no effect.');
  return session.converse({ model, role, system, tools, ...limits }, prompt, watch);
}

/** A conversation that must not run out of turns. */
async function finished(session: Session, call: BackendCall, limits: Limits): Promise<Conversation> {
  const conversation = await converse(session, call, limits);
  if (endOf(conversation) === 'natural') return conversation;
  // Without tools there was nothing to do in all these turns but to give the object.
  const kind = limits.schema !== undefined && !hasTools(call) ? 'invalid_output' : 'step_limit';
  throw new LlmError(kind, `The model did not come to an end within ${limits.stepBudget} turns.`);
}

function plainOrder(model: string): Order {
  return { model, role: 'triage', system: '', tools: {}, stepBudget: 1, isLone: true };
}

function silentWatch(signal: AbortSignal): CallWatch {
  const ignore = (): void => undefined;
  return { signal, alive: ignore, step: ignore, apiCall: ignore, used: ignore, toolFailed: ignore, limit: ignore, warn: ignore };
}

function reportOf(account: Account): AccountReport {
  checkAccount(account);
  const { tokenSource, subscriptionType, apiProvider: provider } = account;
  const how = tokenSource === 'CLAUDE_CODE_OAUTH_TOKEN' ? `token from ${tokenSource}` : subscriptionType;
  return { source: `your own local Claude Code session${how === undefined ? '' : ` (${how})`}`, provider };
}
