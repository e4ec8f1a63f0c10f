import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { requireExtra } from '../../store/extras/require-extra.ts';
import { isSecretReference } from '../../store/secrets.ts';
import type { EmbeddingsConfig } from '../ai-sdk/embedding-providers.ts';
import type { LlmConfig } from '../config.ts';
import { sharedGate, warnOnce, type LlmOptions } from '../factory.ts';
import { NetworkWatch } from '../governor/retries/network-watch.ts';
import { checkPrices, openSpending, runSpendingLimit } from '../governor/spending.ts';
import type { KtxEmbeddingPort } from '../port/embedding.ts';
import { LlmError } from '../port/error.ts';
import { silentMonitor } from '../port/silent-monitor.ts';
import { checkVectors, type VectorLength } from './check-vectors.ts';
import { embeddingCallConfig } from './config.ts';
import { embedTexts } from './embed-texts.ts';
import { embeddingFailure } from './failure.ts';

export interface EmbeddingsOptions extends Omit<LlmOptions, 'config'> {
  readonly config: EmbeddingsConfig;
  /** Prices, timeouts and the limit of the run. Its backend is not asked. */
  readonly llm: LlmConfig;
}

/** The port, and what commands need beside it. */
export interface EmbeddingRuntime extends KtxEmbeddingPort {
  /**
   * Embeds one word. Returns the length of the vectors. Throws if the provider or the model cannot
   * be used.
   */
  probe(signal: AbortSignal): Promise<number>;
  close(): void;
}

const defaultConcurrency = 4;
const probeSeconds = 60;

/** Opens what `ingest.embeddings` names. Connects to nothing before the first text. */
export async function openEmbeddings(options: EmbeddingsOptions): Promise<EmbeddingRuntime> {
  const { config, llm, record, projectDir, secret } = options;
  const { provider, model, dimensions, ...references } = config;
  const callConfig = embeddingCallConfig(llm, config);
  const limit = runSpendingLimit(llm, options.budget);
  checkPrices(provider, [model], limit);
  const settings = Object.fromEntries(
    Object.entries(references).map(([key, value]) => [
      key,
      isSecretReference(value) ? secret(value) : value,
    ]),
  );
  requireExtra(provider);
  const { openEmbeddingModel } = await import('../ai-sdk/embedding-model.ts');
  const about = { provider, model, dimensions, settings };
  const backend = openEmbeddingModel({ ...about, projectDir: projectDir ?? process.cwd() });
  const concurrency = llm.concurrency ?? defaultConcurrency;
  const { gate, pauseListeners } = sharedGate(`embeddings of ${provider}`, llm, concurrency);
  pauseListeners.add(options.onPause);
  const length: VectorLength = { current: dimensions, isConfigured: dimensions !== undefined };
  const context = {
    ...options,
    config: callConfig,
    backend,
    model,
    gate,
    network: new NetworkWatch(),
    concurrency,
    spending: options.spending ?? openSpending(limit),
    record: (call: Parameters<typeof record>[0]) => record({ ...call, role: 'embedding' }),
    warn: warnOnce(options.warn),
    length,
  };
  return {
    provider,
    model,
    get dimensions() {
      return length.current;
    },
    fingerprint: shortHash(
      canonicalJson([provider, settings['base_url'] ?? '', model, dimensions ?? 0]),
      32,
    ),
    embed: (input) => embedTexts(context, input),
    probe: (signal) => probe(context, signal),
    close: () => void pauseListeners.delete(options.onPause),
  };
}

async function probe(
  { backend, length, model }: Parameters<typeof embedTexts>[0],
  signal: AbortSignal,
): Promise<number> {
  const timeout = AbortSignal.timeout(probeSeconds * 1000);
  const monitor = silentMonitor(AbortSignal.any([signal, timeout]));
  const batch = { texts: ['ready'], purpose: 'similarity', monitor } as const;
  try {
    const [vector] = checkVectors(await backend.embed(batch), 1, length);
    return vector?.length ?? 0;
  } catch (error) {
    if (timeout.aborted && !signal.aborted)
      throw new LlmError('timeout', `${model} did not answer within ${probeSeconds} s.`);
    throw error instanceof LlmError ? embeddingFailure(error, model) : error;
  }
}
