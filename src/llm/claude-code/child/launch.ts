import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Options,
  type Query,
  type SDKUserMessage,
  startup,
  type WarmQuery,
} from '@anthropic-ai/claude-agent-sdk';
import PQueue from 'p-queue';
import { openChannel } from '../../../lib/channel.ts';
import { LlmError } from '../../port/error.ts';
import type { AccountPolicy, ChildAccount } from '../account-policy.ts';
import type { Child, Children } from './children.ts';
import type { CheckManaged } from '../managed-settings/check-managed-settings.ts';
import type { ExplainExit } from '../managed-settings/explain-exit.ts';
import { readPolicySettings } from './policy-settings.ts';
import { clearConversation } from './clear-conversation.ts';
import { checkPrerequisites } from './prerequisites.ts';
import { hidePermissionWarning } from './sdk-warnings.ts';

hidePermissionWarning();

export interface LaunchOptions {
  readonly children: Children;
  /** Path of the program. */
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly policy: AccountPolicy;
  /** Throws if managed settings of the machine would take part. */
  readonly checkManaged: CheckManaged;
  /** The error if rules of the machine made the program end at once, with these last words. */
  readonly explainExit: ExplainExit;
  /** The SDK options of the child: isolation, model, system text, schema, tools. */
  readonly options: Options;
}

/** A child that has started and waits for a prompt. It takes the next one after each result. */
export interface ReadyChild {
  isAlive(): boolean;
  /** How it ended; undefined while it runs. */
  exitReason(): string | undefined;
  /** Resolves when it has ended. */
  readonly gone: Promise<void>;
  /**
   * Checks the account, then sends the prompt. If the account is wrong it throws and sends nothing.
   */
  ask(prompt: string): Promise<Query>;
  /** Who would pay. Nothing is sent. */
  account(): Promise<ChildAccount>;
  /**
   * Clears the conversation after an answer. False if the child cannot serve another call and has
   * to end.
   */
  startOver(): Promise<boolean>;
  end(): Promise<void>;
}

const maxAttempts = 3;
/** A child that served this many calls ends, so that its memory does not grow. */
const maxCallsPerChild = 25;
const startTimeoutMs = 30_000;
/** Starting a child keeps a core busy, so only two start at the same time. */
const startQueue = new PQueue({ concurrency: 2 });

/** Starts a child. A failed start is repeated, up to three attempts in all. */
export async function launchChild(
  launchOptions: LaunchOptions,
  signal: AbortSignal,
): Promise<ReadyChild> {
  await checkPrerequisites(launchOptions.program, launchOptions.cwd, launchOptions.env);
  await launchOptions.checkManaged();
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      return await startQueue.add(() => startChild(launchOptions, signal));
    } catch (error) {
      signal.throwIfAborted();
      const isRefusal = error instanceof LlmError && error.kind !== 'spawn';
      if (isRefusal || attempt === maxAttempts) throw error;
      await sleep(250 * 4 ** (attempt - 1), undefined, { signal }).catch(() => undefined);
    }
  }
}

async function startChild(
  { children, program, cwd, env, policy, checkManaged, explainExit, options }: LaunchOptions,
  signal: AbortSignal,
): Promise<ReadyChild> {
  signal.throwIfAborted();
  let child: Child | undefined;
  const end = async (): Promise<void> => child?.end();
  const onAbort = (): void => void end();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const spawnClaudeCodeProcess: Options['spawnClaudeCodeProcess'] = (spawnOptions) => {
      const started = children.spawn(spawnOptions);
      child = started.child;
      // The SDK's type needs pipes, and `children` opens them.
      return started.spawned as ReturnType<NonNullable<Options['spawnClaudeCodeProcess']>>;
    };
    const allOptions: Options = {
      ...options,
      cwd,
      env,
      pathToClaudeCodeExecutable: program,
      spawnClaudeCodeProcess,
    };
    const warm = await startup({ options: allOptions, initializeTimeoutMs: startTimeoutMs });
    if (child === undefined) throw new LlmError('spawn', 'Claude Code did not start.');
    return readyChild(warm, child, { policy, checkManaged });
  } catch (error) {
    const exitReason = child?.exitReason();
    await end();
    if (error instanceof LlmError || signal.aborted) throw error;
    if (exitReason === undefined) throw startError('it did not answer in time', error);
    const words = (await child?.lastWords()) ?? '';
    throw (
      (await explainExit(words)) ??
      startError([exitReason, words].filter(Boolean).join(': '), error)
    );
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function startError(reason: string, cause: unknown): LlmError {
  return new LlmError('spawn', `Claude Code did not start (${reason}).`, { cause });
}

function readyChild(
  warm: WarmQuery,
  child: Child,
  { policy, checkManaged }: Pick<LaunchOptions, 'policy' | 'checkManaged'>,
): ReadyChild {
  // Standard input stays open to the end: a child whose parent is gone sees it close, and ends.
  const input = openChannel<SDKUserMessage>();
  let query: Query | undefined;
  let calls = 0;
  const send = (content: string, isPrompt: boolean): void =>
    input.push({
      type: 'user',
      message: { role: 'user', content },
      parent_tool_use_id: null,
      session_id: '',
      // The program takes the text of a prompt as it is: no commands, no files.
      ...(isPrompt && { client_composed: true }),
    });
  const account = async (): Promise<ChildAccount> => {
    query ??= warm.query(input);
    const { account: reported } = await query.initializationResult();
    return { ...reported, policySettings: await readPolicySettings(query) };
  };
  return {
    isAlive: () => child.exitReason() === undefined,
    exitReason: () => child.exitReason(),
    gone: child.gone,
    account,
    async ask(prompt) {
      const reported = await account();
      policy.checkAccount(reported);
      await checkManaged(reported.policySettings);
      calls += 1;
      send(prompt, true);
      return query ?? warm.query(input);
    },
    async startOver() {
      if (query === undefined || calls >= maxCallsPerChild) return false;
      return clearConversation(query, (command) => send(command, false));
    },
    async end() {
      input.close();
      await child.end();
      // Lets the SDK release its resources. Its error about the end tells nothing new.
      if (query === undefined) warm.close();
      else void query.return().catch(() => undefined);
    },
  };
}
