import type { LanguageModel } from 'ai';
import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { secretSchema } from '../../store/secrets.ts';
import { fetchWholeMessages } from './whole-messages.ts';

type SdkModel = Exclude<LanguageModel, string>;
type ProviderOptions = Readonly<
  Record<string, Record<string, string | boolean | Record<string, string>>>
>;
export type CacheTtl = '5m' | '1h';

/**
 * One API provider. Its package is imported inside `open`, so that it is loaded only if it is used.
 */
export interface Provider<TConfig extends z.ZodType = z.ZodType> {
  readonly title: string;
  readonly config: TConfig;
  /** Who pays, shown to a person; undefined if nobody does. */
  readonly account: (config: unknown) => string | undefined;
  /**
   * Takes `config` with every secret reference replaced by its value. The environment never decides
   * where a request goes or who pays, except through Google's and Amazon's own credential chains.
   */
  readonly open: (config: unknown) => Promise<(model: string) => SdkModel>;
  /** True if credentials come from the machine that ktx runs on, not from `ktx.yaml`. */
  readonly isAmbient?: boolean;
  /** Sent with every call. */
  readonly options?: ProviderOptions;
  /** Options that mark the end of a cached prefix; undefined if the model takes no markers. */
  readonly cacheMarker?: (model: string, ttl: CacheTtl) => ProviderOptions | undefined;
  /** True if some regions do not serve the one-hour lifetime; `vertexFallbackTo5m` applies then. */
  readonly mayLackOneHour?: boolean;
  /** Value of the header `anthropic-beta` that this endpoint needs for the one-hour lifetime. */
  readonly oneHourBeta?: string;
}

type ProviderDefinition<TConfig extends z.ZodType> = Omit<
  Provider<TConfig>,
  'config' | 'open' | 'account'
> & {
  /**
   * Schema of its block in `ktx.yaml`. `secret` is a reference in the file, and the value in
   * `open`.
   */
  readonly block: (secret: z.ZodString) => TConfig;
  readonly account: (config: z.infer<TConfig>) => string | undefined;
  readonly open: (config: z.infer<TConfig>) => Promise<(model: string) => SdkModel>;
};

function defineProvider<TConfig extends z.ZodType>({
  block,
  account,
  open,
  ...rest
}: ProviderDefinition<TConfig>): Provider<TConfig> {
  const resolvedBlock = block(z.string().min(1));
  const parseConfig = (config: unknown) => {
    const { data, success } = resolvedBlock.safeParse(config);
    if (success) return data;
    throw new UserError('llm_config_invalid', `The settings of ${rest.title} are incomplete.`, {
      exitCode: 2,
      hint: 'To complete them, run: ktx setup',
    });
  };
  return {
    ...rest,
    config: block(secretSchema),
    account: (config) => account(parseConfig(config)),
    open: (config) => open(parseConfig(config)),
  };
}

const apiKey = (secret: z.ZodString) =>
  secret.describe('Reference to the API key: env:NAME, file:path or keychain:ktx/account.');
const baseUrl = z
  .string()
  .optional()
  .describe(
    'Address of another endpoint that speaks the same protocol; may be a secret reference.',
  );
const keyAccount = (name: string) => `the API key that llm.provider.${name}.api_key names`;
const anthropicMarker = (ttl: CacheTtl) => ({
  anthropic: { cacheControl: { type: 'ephemeral', ttl } },
});
/** The model sends pings while it works. They restart the idle clock. */
const pings = { anthropic: { includePings: true } };

/** ANTHROPIC_BASE_URL is usually written without the version that the package expects. */
const withVersion = (url: string): string =>
  /^https?:\/\/[^/]+\/?$/.test(url) ? `${url.replace(/\/$/, '')}/v1` : url;

/** The visible list of providers behind the AI SDK. A new provider is an entry here. */
export const providers = {
  anthropic: defineProvider({
    title: 'Anthropic API',
    block: (secret) => z.strictObject({ api_key: apiKey(secret), base_url: baseUrl }),
    account: () => keyAccount('anthropic'),
    open: async ({ api_key: key, base_url: url = 'https://api.anthropic.com/v1' }) => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({
        apiKey: key,
        baseURL: withVersion(url),
        fetch: fetchWholeMessages,
      });
    },
    options: pings,
    cacheMarker: (_model, ttl) => anthropicMarker(ttl),
  }),
  vertex: defineProvider({
    title: 'Google Vertex AI',
    block: () =>
      z.strictObject({
        project: z.string().min(1).describe('Google Cloud project; may be a secret reference.'),
        location: z
          .string()
          .min(1)
          .describe('Region, e.g. global or europe-west1; may be a secret reference.'),
        base_url: baseUrl,
      }),
    account: ({ project }) => `Google application default credentials, project ${project}`,
    open: async ({ project, location, base_url: url }) => {
      const { createVertexAnthropic } = await import('@ai-sdk/google-vertex/anthropic');
      return createVertexAnthropic({
        project,
        location,
        baseURL: url,
        fetch: fetchWholeMessages,
      });
    },
    options: pings,
    cacheMarker: (_model, ttl) => anthropicMarker(ttl),
    isAmbient: true,
    mayLackOneHour: true,
  }),
  gateway: defineProvider({
    title: 'AI Gateway',
    block: (secret) => z.strictObject({ api_key: apiKey(secret), base_url: baseUrl }),
    account: () => keyAccount('gateway'),
    open: async ({ api_key: key, base_url: url }) => {
      const { createGateway } = await import('@ai-sdk/gateway');
      return createGateway({ apiKey: key, baseURL: url });
    },
    cacheMarker: (model, ttl) =>
      model.startsWith('anthropic/') ? anthropicMarker(ttl) : undefined,
    oneHourBeta: 'extended-cache-ttl-2025-04-11',
  }),
  openai: defineProvider({
    title: 'OpenAI, or any endpoint that speaks its protocol',
    block: (secret) => z.strictObject({ api_key: apiKey(secret).optional(), base_url: baseUrl }),
    account: ({ api_key: key }) => key && keyAccount('openai'),
    open: async ({ api_key: key, base_url: url }) => {
      if (url === undefined) {
        if (key === undefined)
          throw new UserError('llm_config_invalid', 'OpenAI needs llm.provider.openai.api_key.', {
            exitCode: 2,
          });
        const { createOpenAI } = await import('@ai-sdk/openai');
        return createOpenAI({ apiKey: key, baseURL: 'https://api.openai.com/v1' });
      }
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      // Most other endpoints do not know `reasoning_effort` and reject unknown parameters.
      const transformRequestBody = (body: Record<string, unknown>) => ({
        ...body,
        reasoning_effort: undefined,
      });
      const abilities = {
        includeUsage: true,
        supportsStructuredOutputs: true,
        transformRequestBody,
      };
      return createOpenAICompatible({
        name: 'compatible',
        apiKey: key,
        baseURL: url,
        ...abilities,
      });
    },
    // `store: false`: OpenAI keeps nothing. Strict schemas allow no optional fields, and ktx uses
    // them.
    options: {
      openai: { store: false, strictJsonSchema: false },
      compatible: { strictJsonSchema: false },
    },
  }),
  bedrock: defineProvider({
    title: 'Amazon Bedrock',
    block: () =>
      z.strictObject({
        region: z
          .string()
          .min(1)
          .describe('AWS region; credentials come from the AWS environment.'),
        base_url: baseUrl,
      }),
    account: ({ region }) => `AWS credentials of the environment, region ${region}`,
    open: async ({ region, base_url: url }) => {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock({ region, baseURL: url });
    },
    isAmbient: true,
    // Without a lifetime: not every Claude model on Bedrock knows one hour.
    cacheMarker: (model) =>
      model.includes('anthropic.') ? { bedrock: { cachePoint: { type: 'default' } } } : undefined,
  }),
} as const;

export type ProviderName = keyof typeof providers;
