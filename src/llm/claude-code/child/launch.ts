import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Options,
  type Query,
  type SDKUserMessage,
  startup,
  type WarmQuery,
} from '@anthropic-ai/claude-agent-sdk';
import { openChannel } from '../../../lib/channel.ts';
import { LlmError } from '../../port/error.ts';
import type { Access, Account } from '../access.ts';
import type { Child, Children } from './children.ts';
import { checkPrerequisites } from './program.ts';

export interface LaunchOptions {
  readonly children: Children;
  readonly program: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly access: Access;
  /** Everything else that the child is told: the isolation tuple, model, system text, schema, tools. */
  readonly options: Options;
}

/** A child that has started and waits for a prompt; the next one when the last has its result. */
export interface Launched {
  isAlive(): boolean;
  /** How it went, where it is gone. */
  fate(): string | undefined;
  /** Checks the account, then asks; throws before anything is sent where the account is not the one that was chosen. */
  ask(prompt: string): Promise<Query>;
  /** Who would pay; nothing is sent. */
  account(): Promise<Account>;
  end(): Promise<void>;
}

const attempts = 3;
const startMs = 30_000;

/** Starts a child; a start that fails is repeated, at most three in all. */
export async function launch(launchOptions: LaunchOptions, signal: AbortSignal): Promise<Launched> {
  const program = await checkPrerequisites(
    launchOptions.program,
    launchOptions.cwd,
    launchOptions.env,
  );
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      return await inTurn(() => start(launchOptions, program, signal));
    } catch (error) {
      signal.throwIfAborted();
      if (attempt === attempts) throw error;
      await sleep(250 * 4 ** (attempt - 1), undefined, { signal }).catch(() => undefined);
    }
  }
}

async function start(
  { children, cwd, env, access, options }: LaunchOptions,
  program: string,
  signal: AbortSignal,
): Promise<Launched> {
  signal.throwIfAborted();
  let child: Child | undefined;
  const end = async (): Promise<void> => child?.end();
  const onAbort = (): void => void end();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const spawnClaudeCodeProcess: Options['spawnClaudeCodeProcess'] = (spawnOptions) => {
      const started = children.spawn(spawnOptions);
      child = started.child;
      // Without pipes it is no child; `spawn` was asked for them.
      return started.spawned as ReturnType<NonNullable<Options['spawnClaudeCodeProcess']>>;
    };
    const all: Options = {
      ...options,
      cwd,
      env,
      pathToClaudeCodeExecutable: program,
      spawnClaudeCodeProcess,
    };
    const warm = await startup({ options: all, initializeTimeoutMs: startMs });
    if (child === undefined) throw new LlmError('spawn', 'Claude Code did not start.');
    return launched(warm, child, access);
  } catch (error) {
    const fate = child?.fate();
    await end();
    if (error instanceof LlmError || signal.aborted) throw error;
    throw new LlmError(
      'spawn',
      `Claude Code did not start (${fate ?? 'it said nothing in time'}).`,
      { cause: error },
    );
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function launched(warm: WarmQuery, child: Child, access: Access): Launched {
  // Standard input stays open until the end: a child whose parent is gone sees it close, and ends.
  const input = openChannel<SDKUserMessage>();
  let query: Query | undefined;
  const account = async (): Promise<Account> => {
    query ??= warm.query(input);
    return (await query.initializationResult()).account;
  };
  return {
    isAlive: () => child.fate() === undefined,
    fate: () => child.fate(),
    account,
    async ask(prompt) {
      access.checkAccount(await account());
      input.push({
        type: 'user',
        message: { role: 'user', content: prompt },
        parent_tool_use_id: null,
        session_id: '',
      });
      return query ?? warm.query(input);
    },
    async end() {
      input.close();
      await child.end();
      // Lets the SDK release its side; what it says of the end is known.
      if (query === undefined) warm.close();
      else void query.return().catch(() => undefined);
    },
  };
}

// The SDK warns that it asks `canUseTool` about tools only that are not allowed. That is what it is here for, and the
// warning would end up on a person's screen.
const emitWarning = process.emitWarning.bind(process);
process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
  const [options] = rest;
  const code =
    typeof options === 'object' && options !== null ? Reflect.get(options, 'code') : undefined;
  if (code !== 'CLAUDE_SDK_CAN_USE_TOOL_SHADOWED')
    Reflect.apply(emitWarning, undefined, [warning, ...rest]);
};

const startsAtOnce = 2;
const lanes: Promise<unknown>[] = Array.from({ length: startsAtOnce }, () => Promise.resolve());
let turn = 0;

/** Starting a child keeps a core busy: few start at the same time, the others in turn. */
function inTurn<T>(run: () => Promise<T>): Promise<T> {
  const lane = turn++ % startsAtOnce;
  const started = (lanes[lane] ?? Promise.resolve()).then(run);
  lanes[lane] = started.catch(() => undefined);
  return started;
}
