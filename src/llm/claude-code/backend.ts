import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { checkSchema } from '../../lib/schema-check.ts';
import { ensureStateDirectory } from '../../store/directories.ts';
import type {
  AccountReport,
  BackendCall,
  BackendSession,
  CallWatch,
  LoopCall,
  ModelBackend,
  SessionCall,
} from '../port/backend.ts';
import type { AuthMode } from '../backends.ts';
import type { PromptCaching } from '../config.ts';
import { LlmError } from '../port/error.ts';
import { type Access, type Account, agentAccess, ownSession } from './access.ts';
import { openChildren } from './child/children.ts';
import { type Conversation, endOf, follow } from './conversation/conversation.ts';
import { agentEnv, cachingEnv, childEnv } from './child/env.ts';
import { launch, type Launched } from './child/launch.ts';
import { expectedOf, hasTools, optionsOf, type Order, poolKey } from './child/child-spec.ts';
import { openPool } from './child/pool.ts';
import { bundledProgram } from './child/program.ts';
import { openClaudeSession } from './session.ts';
import { used } from './child/with-child.ts';

export interface ClaudeCodeOptions {
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly promptCaching?: PromptCaching | undefined;
  /** Who pays in place of the user's own session: the backend `claude-agent`. */
  readonly auth?: AuthMode | undefined;
  /** In place of the program that ships with the Agent SDK. */
  readonly executable?: string | undefined;
}

/** Foreign text never begins a message: a leading slash would run a command. */
const promptHeader = 'A task from ktx follows.';
const headed = (text: string): string => `${promptHeader}\n\n${text}`;
const idleMs = 30_000;

/**
 * The user's own local Claude Code session, or Claude Code with the payer of `auth`. Children are started as needed, and
 * ahead for calls without tools.
 */
export function openClaudeCodeBackend(options: ClaudeCodeOptions): ModelBackend {
  const { projectDir, executable } = options;
  const access = options.auth === undefined ? ownSession : agentAccess(options.auth, options.env);
  const children = openChildren();
  const closing = new AbortController();
  const pool = openPool<Launched>({ most: Math.min(4, availableParallelism()), idleMs });
  const place = {
    children,
    program: executable ?? bundledProgram(),
    cwd: resolve(projectDir),
    env: envOf(options),
    access,
  };
  const start = (order: Order, signal: AbortSignal): Promise<Launched> =>
    launch({ ...place, options: optionsOf(order) }, signal);
  const until = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, closing.signal]);

  return adapter({
    access,
    account: (order, signal) =>
      used(
        () => start(order, until(signal)),
        (child) => child.account(),
        until(signal),
      ),
    async converse(order, prompt, watch) {
      const signal = until(watch.signal);
      const key = poolKey(order);
      const again = (stop: AbortSignal): Promise<Launched> => start(order, stop);
      const take = (): Promise<Launched> =>
        key === undefined ? again(signal) : pool.take(key, again, signal);
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
        const conversation = await follow(query, {
          expected: expectedOf(order),
          access,
          stepBudget,
          watch: { ...watch, apiCall: refill },
        });
        return { ...conversation, account: await child.account() };
      };
      try {
        return await used(take, ask, signal);
      } finally {
        clearInterval(starting);
        if (key !== undefined) pool.done(key);
      }
    },
    open: (call) =>
      openClaudeSession(
        { start: (order, signal) => start(order, until(signal)), access, headed },
        call,
      ),
    async close() {
      closing.abort(new LlmError('aborted', 'The backend was closed.'));
      await pool.close();
      await children.close();
    },
  });
}

type Answered = Conversation & { readonly account: Account };

interface Session {
  readonly access: Access;
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
      if (facts === undefined || facts.text.trim() === '')
        throw new LlmError('invalid_output', 'The model answered without any text.');
      return facts.text;
    },
    async object({ schema, ...call }) {
      const asked = z.toJSONSchema(schema, {
        target: 'draft-7',
        io: 'input',
        unrepresentable: 'any',
      });
      const { object } = await finished(session, call, {
        stepBudget: Math.max(2, call.stepBudget),
        schema: asked,
      });
      if (object === undefined)
        throw new LlmError(
          'invalid_output',
          'The model ended without the object that it was asked for.',
        );
      const { data, problems } = checkSchema(schema, object.value);
      if (problems === undefined) return data;
      const where = problems
        .slice(0, 3)
        .map(({ path, message }) => `${path.join('.') || 'object'}: ${message}`);
      throw new LlmError(
        'invalid_output',
        `The model gave an object that does not fit: ${where.join('; ')}.`,
      );
    },
    async loop(call) {
      const conversation = await converse(session, call, { stepBudget: call.stepBudget });
      const { facts, text } = conversation;
      const stopReason = endOf(conversation, session.access);
      return { stopReason, text: stopReason === 'natural' ? (facts?.text ?? text) : text };
    },
    session: (call) => session.open(call),
    async probe(model, signal) {
      const conversation = await session.converse(
        plainOrder(model),
        'Answer with the one word: ready',
        silentWatch(signal),
      );
      endOf(conversation, session.access);
      return {
        model: conversation.model ?? model,
        account: reportOf(conversation.account, session.access),
      };
    },
    account: async (signal) =>
      reportOf(await session.account(plainOrder('sonnet'), signal), session.access),
    close: () => session.close(),
  };
}

type Limits = Pick<Order, 'stepBudget' | 'schema'>;

function converse(
  session: Session,
  call: BackendCall | LoopCall,
  limits: Limits,
): Promise<Conversation> {
  const { model, role, system = '', tools, temperature, prompt, watch } = call;
  if (temperature !== undefined)
    watch.warn('Claude Code sets the temperature itself: the temperature given has no effect.');
  return session.converse({ model, role, system, tools, ...limits }, prompt, watch);
}

/** A conversation that must not run out of turns. */
async function finished(
  session: Session,
  call: BackendCall,
  limits: Limits,
): Promise<Conversation> {
  const conversation = await converse(session, call, limits);
  if (endOf(conversation, session.access) === 'natural') return conversation;
  // Without tools there was nothing to do in all these turns but to give the object.
  const kind = limits.schema !== undefined && !hasTools(call) ? 'invalid_output' : 'step_limit';
  throw new LlmError(kind, `The model did not come to an end within ${limits.stepBudget} turns.`);
}

function plainOrder(model: string): Order {
  return { model, role: 'triage', system: '', tools: {}, stepBudget: 1, isLone: true };
}

function silentWatch(signal: AbortSignal): CallWatch {
  const ignore = (): void => undefined;
  return {
    signal,
    alive: ignore,
    step: ignore,
    apiCall: ignore,
    used: ignore,
    toolFailed: ignore,
    limit: ignore,
    warn: ignore,
  };
}

function reportOf(account: Account, access: Access): AccountReport {
  access.checkAccount(account);
  return { source: access.payer(account), provider: account.apiProvider };
}

function envOf({
  projectDir,
  env,
  promptCaching,
  auth,
}: ClaudeCodeOptions): Record<string, string> {
  if (auth === undefined) return childEnv(env, cachingEnv(promptCaching));
  // A login in the home folder would be another account.
  const folder = join(ensureStateDirectory(resolve(projectDir)).state, 'claude-agent');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return agentEnv(env, auth, { ...cachingEnv(promptCaching), CLAUDE_CONFIG_DIR: folder });
}
