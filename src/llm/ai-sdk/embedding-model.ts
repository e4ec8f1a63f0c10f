import * as sdk from 'ai';
import { z } from 'zod';
import type { CallMonitor } from '../port/backend.ts';
import type { EmbeddingPurpose } from '../port/embedding.ts';
import { LlmError } from '../port/error.ts';
import {
  embeddingProviders,
  type EmbeddingProvider,
  type EmbeddingProviderName,
} from './embedding-providers.ts';
import { toLlmError } from './failure.ts';
import { limitsFromHeaders } from '../faults/limit-headers.ts';
import { reportFailedRequest } from './request.ts';

interface EmbeddingModelOptions {
  readonly provider: EmbeddingProviderName;
  /** The settings of the provider, with every secret reference replaced by its value. */
  readonly settings: Readonly<Record<string, string>>;
  readonly model: string;
  readonly dimensions: number | undefined;
  readonly projectDir: string;
}

/** The texts of one request. */
interface EmbeddingBatch {
  readonly texts: readonly string[];
  readonly purpose: EmbeddingPurpose;
  readonly monitor: CallMonitor;
}

/** One embedding model, asked one request at a time. */
export interface EmbeddingBackend {
  /** How many texts one request may have. */
  mostTexts(): Promise<number>;
  /** One vector for each text, in their order. Throws an `LlmError`. */
  embed(batch: EmbeddingBatch): Promise<readonly (readonly number[])[]>;
}

type EmbedMiddleware = sdk.EmbeddingModelMiddleware;

/** Opens a model through the AI SDK. Connects to nothing before the first request. */
export function openEmbeddingModel(options: EmbeddingModelOptions): EmbeddingBackend {
  const provider = embeddingProviders[options.provider];
  globalThis.AI_SDK_LOG_WARNINGS = false;
  let opening: ReturnType<EmbeddingProvider['open']> | undefined;
  const openModel = async () =>
    (await (opening ??= provider.open(options.settings)))(options.model);
  return {
    async mostTexts() {
      const most = (await (await openModel()).maxEmbeddingsPerCall) ?? 1;
      return Math.min(most, provider.mostTexts ?? most);
    },
    async embed(batch) {
      const secrets = [options.settings['api_key'] ?? ''].filter((secret) => secret !== '');
      const { model: name, dimensions } = options;
      const { texts, purpose, monitor } = batch;
      try {
        const middleware = watchRequests({ ...options, provider, secrets }, monitor);
        const result = await sdk.embedMany({
          model: sdk.wrapEmbeddingModel({ model: await openModel(), middleware }),
          values: [...texts],
          dimensions,
          providerOptions: provider.options?.({ model: name, dimensions, purpose }),
          abortSignal: monitor.signal,
          // `watchRequests` repeats requests.
          maxRetries: 0,
          telemetry: { isEnabled: false },
        });
        monitor.addUsage(name, tokensOf(result, texts), reportedUsd(result));
        return inOrderOfTexts(result);
      } catch (error) {
        if (sdk.InvalidResponseDataError.isInstance(error))
          throw new LlmError('invalid_output', error.message, { cause: error });
        throw toLlmError(error, monitor.signal, secrets);
      }
    },
  };
}

interface WatchedModel {
  readonly provider: EmbeddingProvider;
  readonly model: string;
  readonly secrets: readonly string[];
  readonly projectDir: string;
}

/**
 * Counts each request, reports limits, and sends a failed request again when the governor allows
 * it.
 */
function watchRequests(watched: WatchedModel, monitor: CallMonitor): EmbedMiddleware {
  const { model, ...rest } = watched;
  const call = { role: 'embedding', model, tags: {}, monitor };
  const context = { ...rest, isRecording: process.env['KTX_LLM_DEBUG'] === '1' };
  return {
    wrapEmbed: async ({ doEmbed }) => {
      for (;;) {
        monitor.requestSent();
        try {
          const result = await doEmbed();
          monitor.heartbeat();
          monitor.answerBegan();
          for (const limit of limitsFromHeaders(result.response?.headers))
            monitor.limitReported(limit);
          return result;
        } catch (error) {
          await monitor.retry(reportFailedRequest(context, call, error));
        }
      }
    },
  };
}

/**
 * Many local endpoints do not count. Then the count is what plain English has at most, so that a
 * price is not too low.
 */
function tokensOf({ usage }: sdk.EmbedManyResult, texts: readonly string[]) {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const input = Number.isFinite(usage.tokens) ? usage.tokens : Math.ceil(bytes / 3);
  return { input, output: 0, cacheRead: 0, cacheWrite: 0 };
}

/** US dollars. The gateway reports the cost of a request as text. */
function reportedUsd({ providerMetadata }: sdk.EmbedManyResult): number | undefined {
  const cost = providerMetadata?.['gateway']?.['cost'];
  if (cost === undefined || cost === null || cost === '') return undefined;
  return Number.isFinite(Number(cost)) ? Number(cost) : undefined;
}

const numberedVectors = z.object({ data: z.array(z.object({ index: z.int() })) });

/**
 * OpenAI's protocol numbers the vectors, and an endpoint may send them in another order. The SDK
 * does not look.
 */
function inOrderOfTexts({ embeddings, responses }: sdk.EmbedManyResult) {
  const { data } = numberedVectors.safeParse(responses?.[0]?.body);
  if (data === undefined) return embeddings;
  const byIndex = new Map(data.data.map(({ index }, at) => [index, embeddings[at]]));
  return embeddings.map((_, index) => {
    const vector = byIndex.get(index);
    if (vector !== undefined) return vector;
    throw new LlmError('invalid_output', `The provider sent no vector for text ${index + 1}.`);
  });
}
