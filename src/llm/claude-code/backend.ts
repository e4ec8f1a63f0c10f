import { join, resolve } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { createPrivateFolder, ensureStateDirectory } from '../../store/directories.ts';
import type { AuthMode } from '../backends.ts';
import type { PromptCaching } from '../config.ts';
import type {
  AccountReport,
  BackendCall,
  LoopCall,
  ModelBackend,
  ProgramReport,
} from '../port/backend.ts';
import { LlmError } from '../port/error.ts';
import { extractJson } from '../port/json-text.ts';
import { silentMonitor } from '../port/silent-monitor.ts';
import { authModePolicy, ownSessionPolicy, type ChildAccount } from './account-policy.ts';
import { openChildRunner, type ChildRunner } from './child-runner.ts';
import { specHasTools, type ChildSpec } from './child/child-spec.ts';
import { authModeEnv, authVariables, cachingEnv, ownSessionEnv } from './child/env.ts';
import { checkedStopReason } from './conversation/conversation.ts';
import type { ConversationResult } from './conversation/result-facts.ts';
import {
  checkManagedSettings,
  type CheckManaged,
} from './managed-settings/check-managed-settings.ts';
import { type ExplainExit, exitError } from './managed-settings/explain-exit.ts';
import { bundledProgram } from './program/bundled-program.ts';
import { chooseProgram } from './program/choose-program.ts';
import { rememberProgram } from './program/remember-program.ts';
import { withPromptHeader } from './prompt-header.ts';
import { openClaudeSession } from './session.ts';

export interface ClaudeCodeOptions {
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly promptCaching?: PromptCaching | undefined;
  /**
   * Set for the backend `claude-agent`: the account that pays instead of the user's own session.
   */
  readonly auth?: AuthMode | undefined;
  /** `llm.provider.program`: which Claude Code program runs. Default: `auto`. */
  readonly program?: string | undefined;
  /** A program that runs unchecked, instead of the one that `program` chooses. */
  readonly executable?: string | undefined;
  /**
   * `llm.provider.allow_managed_settings`: settings of whoever manages the machine may take part.
   */
  readonly allowManagedSettings?: boolean | undefined;
  /** Maximum number of children at once, beside those of sessions; default 4. */
  readonly concurrency?: number | undefined;
  /** Folder of the managed settings; default the one of the platform. */
  readonly policyFolder?: string | undefined;
}

/**
 * Runs calls in Claude Code children, with the user's own session or with the account of `auth`.
 */
export function openClaudeCodeBackend(options: ClaudeCodeOptions): ModelBackend {
  const { projectDir, auth, env, policyFolder } = options;
  const policy = auth === undefined ? ownSessionPolicy : authModePolicy(auth, env);
  const ownEnv = childEnv(options);
  const isAllowed = options.allowManagedSettings === true;
  const checkManaged: CheckManaged = (reported) =>
    checkManagedSettings({ env: ownEnv, isAllowed, policyFolder }, reported);
  const chosen = openProgram(options);
  const program = async (): Promise<string> => (await chosen()).path;
  const explainExit: ExplainExit = (words) => exitError({ env: ownEnv, policyFolder }, words);
  const runner = openChildRunner({
    projectDir,
    env: ownEnv,
    policy,
    program,
    checkManaged,
    explainExit,
    concurrency: options.concurrency ?? 4,
  });
  const report = async (account: ChildAccount): Promise<AccountReport> => {
    policy.checkAccount(account);
    const { apiProvider: provider, policySettings: _, ...identity } = account;
    return {
      source: policy.payer(account),
      provider,
      id: sha256(canonicalJson([identity, credentials(ownEnv)])),
      notes: await checkManaged(account.policySettings),
      program: await chosen(),
    };
  };
  return {
    text: (call) => generateText(runner, call),
    object: (call) => generateObject(runner, call),
    async loop(call) {
      const conversation = await converse(runner, call, { stepBudget: call.stepBudget });
      const { facts, text } = conversation;
      const stopReason = checkedStopReason(conversation, policy);
      return { stopReason, text: stopReason === 'natural' ? (facts?.text ?? text) : text };
    },
    session: (spec) => openClaudeSession(runner, spec),
    async probe(model, signal) {
      const prompt = withPromptHeader('Answer with the one word: ready');
      const conversation = await runner.converse(probeSpec(model), prompt, silentMonitor(signal));
      checkedStopReason(conversation, policy);
      return {
        model: conversation.model ?? model,
        account: await report(conversation.account),
      };
    },
    account: async (signal, model = 'sonnet') =>
      report(await runner.account(probeSpec(model), signal)),
    close: () => runner.close(),
  };
}

async function generateText(runner: ChildRunner, call: LoopCall): Promise<string> {
  const stepBudget = specHasTools(call) ? call.stepBudget : 1;
  const { facts } = await converseToEnd(runner, call, { stepBudget });
  if (facts === undefined || facts.text.trim() === '')
    throw new LlmError('invalid_output', 'The model answered without any text.');
  return facts.text;
}

async function generateObject(
  runner: ChildRunner,
  { schema, ...call }: LoopCall & { readonly schema: z.ZodType },
): Promise<unknown> {
  const { stepBudget } = call;
  const jsonSchema = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
  });
  const conversation = await converse(runner, call, { stepBudget, schema: jsonSchema });
  const stopReason = checkedStopReason(conversation, runner.policy);
  const { object, text } = conversation;
  // Without tools, all turns were for the object: whoever asked checks it, and asks again.
  if (stopReason === 'budget' && object === undefined && specHasTools(call))
    throw stepLimitError(stepBudget);
  // A model may write the object as text, although it has a tool for it.
  return object === undefined ? extractJson(text) : object.value;
}

type AnswerSpec = Pick<ChildSpec, 'stepBudget' | 'schema'>;

/** Throws if the conversation runs out of turns. */
async function converseToEnd(
  runner: ChildRunner,
  call: BackendCall,
  answer: AnswerSpec,
): Promise<ConversationResult> {
  const conversation = await converse(runner, call, answer);
  if (checkedStopReason(conversation, runner.policy) === 'natural') return conversation;
  throw stepLimitError(answer.stepBudget);
}

function stepLimitError(stepBudget: number): LlmError {
  return new LlmError('step_limit', `The model had not answered after ${stepBudget} turns.`);
}

function converse(
  runner: ChildRunner,
  call: BackendCall,
  answer: AnswerSpec,
): Promise<ConversationResult> {
  const { model, role, system = '', tools, temperature, prompt, monitor, budgetLeft } = call;
  if (temperature !== undefined)
    monitor.warn('Claude Code sets the temperature itself. The given temperature has no effect.');
  const spec = { model, role, system, tools, budgetLeft, ...answer };
  return runner.converse(spec, withPromptHeader(prompt), monitor);
}

/** Variables with which a child pays. Only their hash leaves this file. */
function credentials(env: Readonly<Record<string, string>>): readonly string[] {
  const names = /^(?:ANTHROPIC|CLAUDE_CODE_OAUTH|AWS|AZURE|GOOGLE|CLOUD_ML)_/;
  return Object.entries(env).flatMap(([name, value]) => (names.test(name) ? [value] : []));
}

/**
 * The program to run. It is chosen when the first child starts, and again when its file changes.
 */
function openProgram(options: ClaudeCodeOptions): () => Promise<ProgramReport> {
  const { projectDir, env, program: setting = 'auto', executable: path } = options;
  if (path !== undefined)
    return async () => ({ path, kind: 'named', version: undefined, reason: 'it was handed in' });
  const bundled = bundledProgram();
  return rememberProgram(() =>
    chooseProgram({ projectDir: resolve(projectDir), env, setting, bundled }),
  );
}

function probeSpec(model: string): ChildSpec {
  return { model, role: 'triage', system: '', tools: {}, stepBudget: 1, isSingleUse: true };
}

function childEnv({
  projectDir,
  env,
  promptCaching,
  auth,
}: ClaudeCodeOptions): Record<string, string> {
  if (auth === undefined) return ownSessionEnv(env, cachingEnv(promptCaching));
  if (authVariables[auth].login !== undefined)
    return authModeEnv(env, auth, cachingEnv(promptCaching));
  // A login in the home folder would be another account.
  const folder = join(ensureStateDirectory(resolve(projectDir)).state, 'claude-agent');
  createPrivateFolder(folder);
  return authModeEnv(env, auth, { ...cachingEnv(promptCaching), CLAUDE_CONFIG_DIR: folder });
}
