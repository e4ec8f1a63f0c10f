import { UserError } from '../../../lib/error.ts';
import { extraOfBackend } from '../../../llm/backends.ts';
import type { EmbeddingsConfig } from '../../../llm/ai-sdk/embedding-providers.ts';
import type { EmbeddingsStatus } from '../../../project/setup/embeddings-status.ts';
import type { CommandContext, CommandResult } from '../../command.ts';
import { resolveEmbeddings } from '../../flags/embeddings-flags.ts';
import type { FlagSettings } from '../../flags/schema-flags.ts';
import { describeEmbeddings } from '../../terminal/embeddings-text.ts';
import { withHint } from '../../terminal/failure.ts';
import { describeWritten } from './connect-warehouse.ts';
import { offerExtra } from './questions/offer-extra.ts';

/** Reads the flags and makes one test request; undefined if no flag was given. */
export async function resolveAndProbeEmbeddings(
  dir: string,
  options: FlagSettings,
  context: CommandContext,
): Promise<EmbeddingsConfig | undefined> {
  const embeddings = resolveEmbeddings(options);
  if (embeddings === undefined) return undefined;
  const { provider } = embeddings;
  await offerExtra({ name: extraOfBackend(provider), by: provider }, context);
  const { probeNewEmbeddings } = await import('../../../project/setup/embeddings-setup.ts');
  context.progress.update(`testing embeddings by ${provider}`);
  const { runId, host } = context;
  const warn = (message: string) => context.printNote(message);
  const entry = { dir, runId, env: host.env, embeddings, warn };
  await probeNewEmbeddings(entry, context.signal).catch((error: unknown) => {
    throw error instanceof UserError ? withHint(error, flagHint(embeddings, error)) : error;
  });
  return embeddings;
}

/** The settings are not in `ktx.yaml` yet, so the hint names the flags. */
function flagHint(embeddings: EmbeddingsConfig, { code, hint = '' }: UserError): string {
  const key = 'api_key' in embeddings ? embeddings.api_key : undefined;
  if (code === 'llm_model_unavailable' || code === 'llm_permission')
    return `pass another model with --embeddings-model than ${embeddings.model}`;
  const url = 'base_url' in embeddings ? embeddings.base_url : undefined;
  if (code === 'llm_network' && url !== undefined)
    return `check that a server answers at ${url} (--embeddings-base-url), and the proxy`;
  return code === 'llm_auth' && key !== undefined
    ? `check that ${key} (--embeddings-api-key) contains a valid key`
    : hint;
}

interface EmbeddingsToSave {
  readonly dir: string;
  readonly env: CommandContext['host']['env'];
  readonly embeddings: EmbeddingsConfig | undefined;
}

/**
 * Writes the tested provider into `ktx.yaml`. Returns the files that changed; undefined if there is
 * none.
 */
export async function saveEmbeddings({
  embeddings,
  ...place
}: EmbeddingsToSave): Promise<readonly string[] | undefined> {
  if (embeddings === undefined) return undefined;
  const { writeEmbeddings } = await import('../../../project/setup/embeddings-setup.ts');
  return writeEmbeddings({ ...place, embeddings });
}

/** The result of a setup that changed the embeddings and no LLM. */
export async function embeddingsResult(
  connected: CommandResult | undefined,
  { dir, env, written }: Pick<EmbeddingsToSave, 'dir' | 'env'> & { written: readonly string[] },
  signal: AbortSignal,
): Promise<CommandResult> {
  const embeddings = await embeddingsAfterSetup({ dir, env }, signal);
  return {
    ...connected,
    data: { ...connected?.data, embeddings: { ...embeddings, written } },
    text: [
      ...(connected?.text === undefined ? [] : [connected.text]),
      ...describeEmbeddings(embeddings),
      `${dir}: ${describeWritten(written)}`,
    ].join('\n'),
    next: connected?.next ?? [
      ['ktx ingest', 'compares names by their meaning'],
      ['ktx search', 'also finds what means the same'],
    ],
  };
}

/**
 * The embeddings that `ktx.yaml` names apart from the backend, with one request that tests them.
 */
export async function embeddingsAfterSetup(
  { dir, env }: Pick<EmbeddingsToSave, 'dir' | 'env'>,
  signal: AbortSignal,
): Promise<EmbeddingsStatus> {
  const { openProject } = await import('../../../project/open/open.ts');
  const { readEmbeddingsStatus } = await import('../../../project/setup/embeddings-status.ts');
  const project = await openProject(dir, { env });
  return readEmbeddingsStatus(project, false, signal).finally(() => project.close());
}
