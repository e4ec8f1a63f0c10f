import type { wrapEmbeddingModel } from 'ai';
import { z } from 'zod';
import { secretSchema } from '../../store/secrets.ts';
import type { EmbeddingPurpose } from '../port/embedding.ts';

type SdkEmbeddingModel = Parameters<typeof wrapEmbeddingModel>[0]['model'];
type EmbeddingOptions = Readonly<Record<string, Record<string, string | number>>>;

/** What is asked of the model, apart from the texts. */
interface VectorRequest {
  readonly model: string;
  readonly dimensions: number | undefined;
  readonly purpose: EmbeddingPurpose;
}

/**
 * A provider of embeddings. Its package is imported inside `open`, so that it is loaded only if it
 * is used.
 */
export interface EmbeddingProvider {
  readonly title: string;
  /** True if credentials come from the machine that ktx runs on, not from `ktx.yaml`. */
  readonly isAmbient?: boolean;
  /**
   * Texts of one request, if the model itself takes more. Without it, as many as the model takes.
   */
  readonly mostTexts?: number;
  /** Takes its settings with every secret reference replaced by its value. */
  readonly open: (
    settings: Readonly<Record<string, string>>,
  ) => Promise<(model: string) => SdkEmbeddingModel>;
  /** What only this provider understands. */
  readonly options?: (request: VectorRequest) => EmbeddingOptions;
}

const common = {
  model: z.string().min(1).describe('Embedding model: the id that the provider uses.'),
  dimensions: z
    .int()
    .min(1)
    .max(16_384)
    .optional()
    .describe(
      'Length of the vectors, for models that offer several. Default: what the model sends.',
    ),
};
const apiKey = secretSchema.describe(
  'Reference to the API key: env:NAME, file:path or keychain:ktx/account.',
);
const baseUrl = z
  .string()
  .min(1)
  .optional()
  .describe(
    'Address of another endpoint that speaks the same protocol, such as a local one; may be a secret reference.',
  );

/** `ingest.embeddings` in `ktx.yaml`: one block, with the settings of its provider. */
export const embeddingsConfigSchema = z
  .discriminatedUnion('provider', [
    z
      .strictObject({
        provider: z.literal('openai'),
        ...common,
        api_key: apiKey.optional(),
        base_url: baseUrl,
      })
      .refine(
        ({ api_key: key, base_url: url }) => key !== undefined || url !== undefined,
        'openai needs api_key, or the base_url of an endpoint that needs none',
      ),
    z.strictObject({
      provider: z.literal('vertex'),
      ...common,
      project: z.string().min(1).describe('Google Cloud project; may be a secret reference.'),
      location: z
        .string()
        .min(1)
        .describe('Region, e.g. global or europe-west1; may be a secret reference.'),
      base_url: baseUrl,
    }),
    z.strictObject({
      provider: z.literal('bedrock'),
      ...common,
      region: z.string().min(1).describe('AWS region; credentials come from the AWS environment.'),
      base_url: baseUrl,
    }),
    z.strictObject({
      provider: z.literal('gateway'),
      ...common,
      api_key: apiKey,
      base_url: baseUrl,
    }),
  ])
  .describe(
    'Who turns texts into vectors, apart from llm. Without it everything works: names and texts are compared by their words.',
  );
export type EmbeddingsConfig = z.infer<typeof embeddingsConfigSchema>;
export type EmbeddingProviderName = EmbeddingsConfig['provider'];

const vertexTasks: Readonly<Record<EmbeddingPurpose, string>> = {
  document: 'RETRIEVAL_DOCUMENT',
  query: 'RETRIEVAL_QUERY',
  similarity: 'SEMANTIC_SIMILARITY',
};
const cohereInputs: Readonly<Record<EmbeddingPurpose, string>> = {
  document: 'search_document',
  query: 'search_query',
  similarity: 'clustering',
};
const novaPurposes: Readonly<Record<EmbeddingPurpose, string>> = {
  document: 'GENERIC_INDEX',
  query: 'TEXT_RETRIEVAL',
  similarity: 'CLUSTERING',
};

/** Each family of models on Bedrock has other names for the same things. */
function bedrockOptions({ model, dimensions, purpose }: VectorRequest): EmbeddingOptions {
  const size = (key: string) => (dimensions === undefined ? {} : { [key]: dimensions });
  if (model.includes('cohere.'))
    return { bedrock: { inputType: cohereInputs[purpose], ...size('outputDimension') } };
  if (model.includes('nova-'))
    return {
      bedrock: { embeddingPurpose: novaPurposes[purpose], ...size('embeddingDimension') },
    };
  return { bedrock: size('dimensions') };
}

/** The visible list of providers of embeddings. */
export const embeddingProviders: Readonly<Record<EmbeddingProviderName, EmbeddingProvider>> = {
  openai: {
    title: 'OpenAI, or any endpoint that speaks its protocol',
    mostTexts: 512,
    open: async ({ api_key: key, base_url: url }) => {
      if (url === undefined) {
        const { createOpenAI } = await import('@ai-sdk/openai');
        const openai = createOpenAI({ apiKey: key, baseURL: 'https://api.openai.com/v1' });
        return (model) => openai.embeddingModel(model);
      }
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const compatible = createOpenAICompatible({ name: 'compatible', apiKey: key, baseURL: url });
      return (model) => compatible.embeddingModel(model);
    },
  },
  vertex: {
    title: 'Google Vertex AI',
    isAmbient: true,
    open: async ({ project, location, base_url: url }) => {
      const { createGoogleVertex } = await import('@ai-sdk/google-vertex');
      const vertex = createGoogleVertex({
        project,
        location,
        baseURL: url,
        // Otherwise the package takes GOOGLE_VERTEX_API_KEY, which pays for another account.
        apiKey: '',
      });
      return (model) => vertex.embeddingModel(model);
    },
    options: ({ purpose }) => ({ vertex: { taskType: vertexTasks[purpose] } }),
  },
  bedrock: {
    title: 'Amazon Bedrock',
    isAmbient: true,
    open: async ({ region, base_url: url }) => {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      const bedrock = createAmazonBedrock({ region, baseURL: url });
      return (model) => bedrock.embeddingModel(model);
    },
    options: bedrockOptions,
  },
  gateway: {
    title: 'AI Gateway',
    mostTexts: 512,
    open: async ({ api_key: key, base_url: url }) => {
      const { createGateway } = await import('@ai-sdk/gateway');
      const gateway = createGateway({ apiKey: key, baseURL: url });
      return (model) => gateway.embeddingModel(model);
    },
  },
};
