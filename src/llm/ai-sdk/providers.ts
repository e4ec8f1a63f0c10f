import type { LanguageModel } from 'ai';
import { z } from 'zod';
import { secretSchema } from '../../store/secrets.ts';

/** One API provider. Packages are loaded by `open`, never by an import at the top. */
interface Provider<TConfig extends z.ZodType = z.ZodType> {
  readonly title: string;
  readonly config: TConfig;
  /** `config` with every secret reference replaced by its value. */
  open(config: z.infer<TConfig>): Promise<(model: string) => LanguageModel>;
}

function provider<TConfig extends z.ZodType>(entry: Provider<TConfig>): Provider<TConfig> {
  return entry;
}

const apiKey = secretSchema.describe('Reference to the API key: env:NAME, file:path or keychain:service/account.');
const baseUrl = z.string().optional().describe('Address of another endpoint that speaks the same protocol; may be a secret reference.');

/** The visible list of providers behind the AI SDK; a further one is an entry here. */
export const providers = {
  anthropic: provider({
    title: 'Anthropic API',
    config: z.strictObject({ api_key: apiKey, base_url: baseUrl }),
    open: async ({ api_key: key, base_url: url }) => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ apiKey: key, baseURL: url });
    },
  }),
  vertex: provider({
    title: 'Google Vertex AI',
    config: z.strictObject({
      project: z.string().describe('Google Cloud project; may be a secret reference.'),
      location: z.string().describe('Region, e.g. global or europe-west1; may be a secret reference.'),
      base_url: baseUrl,
    }),
    open: async ({ project, location, base_url: url }) => {
      const { createVertexAnthropic } = await import('@ai-sdk/google-vertex/anthropic');
      return createVertexAnthropic({ project, location, baseURL: url });
    },
  }),
  gateway: provider({
    title: 'AI Gateway',
    config: z.strictObject({ api_key: apiKey, base_url: baseUrl }),
    open: async ({ api_key: key, base_url: url }) => {
      const { createGateway } = await import('@ai-sdk/gateway');
      return createGateway({ apiKey: key, baseURL: url });
    },
  }),
  openai: provider({
    title: 'OpenAI, or any endpoint that speaks its protocol',
    config: z.strictObject({ api_key: apiKey.optional(), base_url: baseUrl }),
    open: async ({ api_key: key, base_url: url }) => {
      if (url === undefined) {
        const { createOpenAI } = await import('@ai-sdk/openai');
        return createOpenAI({ apiKey: key });
      }
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({ name: 'openai', apiKey: key, baseURL: url, supportsStructuredOutputs: true });
    },
  }),
  bedrock: provider({
    title: 'Amazon Bedrock',
    config: z.strictObject({ region: z.string().describe('AWS region; credentials come from the AWS environment.'), base_url: baseUrl }),
    open: async ({ region, base_url: url }) => {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock({ region, baseURL: url });
    },
  }),
} as const;

export type ProviderName = keyof typeof providers;
