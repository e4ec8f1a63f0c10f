import type { EmbeddingsConfig } from '../ai-sdk/embedding-providers.ts';
import type { LlmConfig } from '../config.ts';

/**
 * The settings of embeddings in the form of a model backend. So the governor, the ledger and the
 * prices treat a request for vectors like every other call.
 */
export function embeddingCallConfig(
  llm: LlmConfig,
  { provider, model, dimensions: _dimensions, ...settings }: EmbeddingsConfig,
): LlmConfig {
  return {
    ...llm,
    provider: { backend: provider, [provider]: settings },
    models: { default: model },
  };
}
