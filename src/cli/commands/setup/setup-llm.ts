import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../lib/error.ts';
import type { ProjectConfig } from '../../../project/open/config.ts';
import type { ProbedLlm } from '../../../project/setup/llm-setup.ts';
import type { CommandContext, CommandResult, NextStep } from '../../command.ts';
import { resolveLlm } from '../../flags/llm-flags.ts';
import type { FlagSettings } from '../../flags/schema-flags.ts';
import { describeEmbeddings } from '../../terminal/embeddings-text.ts';
import { withHint } from '../../terminal/failure.ts';
import { retryPrompts } from '../../terminal/prompt.ts';
import { describeWritten } from './connect-warehouse.ts';
import { extraOfBackend } from '../../../llm/backends.ts';
import { offerExtra } from './questions/offer-extra.ts';
import { embeddingsAfterSetup } from './setup-embeddings.ts';

export async function readExistingConfig(dir: string): Promise<ProjectConfig | undefined> {
  const { readConfig } = await import('../../../project/open/config-file.ts');
  return existsSync(join(dir, 'ktx.yaml')) ? readConfig(dir) : undefined;
}

/**
 * Reads the flags of the backend, prompts for the rest, and makes one test call. Undefined if
 * nothing is to be changed.
 */
export async function resolveAndProbeLlm(
  dir: string,
  options: FlagSettings,
  context: CommandContext,
): Promise<ProbedLlm | undefined> {
  const llm = await resolveLlm(options, context, (await readExistingConfig(dir))?.llm.provider);
  if (llm === undefined) return undefined;
  if (llm.backend !== 'none')
    await offerExtra({ name: extraOfBackend(llm.backend), by: llm.backend }, context);
  const { probeLlm } = await import('../../../project/setup/llm-setup.ts');
  context.progress.update(`testing ${llm.backend}`);
  const { runId, host } = context;
  const warn = (message: string) => context.printNote(message);
  return probeLlm({ dir, runId, env: host.env, llm, warn }, context.signal).catch(
    rethrowForLlmFlags(llm),
  );
}

/** The settings are not in `ktx.yaml` yet, so the hints name the flags. */
function rethrowForLlmFlags({
  settings,
  models,
}: Pick<ProbedLlm, 'settings' | 'models'>): (error: unknown) => never {
  return (error) => {
    const { api_key: key, base_url: url } = settings;
    const server = typeof url === 'string' ? ` for ${url} (--llm-base-url)` : '';
    const model = models.default ?? 'the model';
    const hints: Readonly<Record<string, string | undefined>> = {
      llm_auth:
        typeof key === 'string' ? `check that ${key} contains a valid key${server}` : undefined,
      llm_model_unavailable: `${model} is not available to this account; pass another with --llm-model`,
      llm_permission: `this account may not use ${model}; pass another with --llm-model`,
    };
    const hint = error instanceof UserError ? hints[error.code] : undefined;
    throw error instanceof UserError && hint !== undefined ? withHint(error, hint) : error;
  };
}

const stepsWithModel: readonly NextStep[] = [
  ['ktx ingest', 'describes tables and columns that have no description'],
  ['ktx status', 'shows which model answers, and who pays'],
];
const stepsWithoutModel: readonly NextStep[] = [
  ['ktx ingest', 'works without a model'],
  ['ktx sl list', 'lists datasets and metrics'],
];

export interface LlmToSave {
  readonly dir: string;
  readonly env: CommandContext['host']['env'];
  readonly llm: ProbedLlm;
  readonly signal: AbortSignal;
}

/** Writes the tested backend into `ktx.yaml` and adds it to the result of the connection. */
export async function saveLlm(
  connected: CommandResult | undefined,
  { dir, env, llm, signal }: LlmToSave,
): Promise<CommandResult> {
  const { writeLlm } = await import('../../../project/setup/llm-setup.ts');
  const { backend, models, probe, ignored } = llm;
  const written = await writeLlm({ dir, env, llm });
  const embeddings = await embeddingsAfterSetup({ dir, env }, signal);
  const account = probe?.account === undefined ? '' : ` (${probe.account.source})`;
  const status =
    probe === undefined ? 'llm: none' : `llm: ${backend} answers with ${probe.model}${account}`;
  return {
    ...connected,
    data: { ...connected?.data, llm: { backend, models, probe, ignored, written }, embeddings },
    text: [
      ...(connected?.text === undefined ? [] : [connected.text]),
      status,
      `${dir}: ${describeWritten(written)}`,
    ].join('\n'),
    notes: [
      ...(connected?.notes ?? []),
      ...ignored.map((line) => `ignored: ${line}`),
      ...(probe?.account?.notes ?? []).map((line) => `takes part: ${line}`),
      ...describeEmbeddings(embeddings),
    ],
    next: connected?.next ?? (probe === undefined ? stepsWithoutModel : stepsWithModel),
  };
}

interface LlmPrompt {
  readonly dir: string;
  readonly options: FlagSettings;
  /** The result of the connection; its text is printed already. */
  readonly connected: CommandResult | undefined;
}

/** Asks for a backend. A person who leaves the prompt still has the project. */
export async function promptForLlm(
  { dir, options, connected }: LlmPrompt,
  context: CommandContext,
): Promise<CommandResult> {
  const { text: _printed, ...result } = connected ?? { data: {} };
  try {
    const llm = await retryPrompts(context, () => resolveAndProbeLlm(dir, options, context));
    const { env } = context.host;
    const { signal } = context;
    return llm === undefined ? result : await saveLlm(result, { dir, env, llm, signal });
  } catch (error) {
    if (!(error instanceof UserError && error.code === 'interrupted')) throw error;
    const hint = 'ktx setup asks for an LLM again; everything else works without one: ktx ingest';
    const message = 'No LLM was chosen. The project is set up.';
    return {
      ...result,
      failure: new UserError('interrupted', message, { hint, exitCode: 130 }),
    };
  }
}
