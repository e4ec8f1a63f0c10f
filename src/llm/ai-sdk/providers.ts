import type { LanguageModel } from 'ai';
import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { secretSchema } from '../../store/secrets.ts';

type SdkModel = Exclude<LanguageModel, string>;
type Options = Readonly<Record<string, Record<string, string | boolean | Record<string, string>>>>;
export type CacheTtl = '5m' | '1h';

/** One API provider. Packages are loaded by `open`, never by an import at the top. */
export interface Provider<TConfig extends z.ZodType = z.ZodType> {
  readonly title: string;
  readonly config: TConfig;
  /** Who pays, for a person; undefined where nobody does. */
  readonly account: (config: unknown) => string | undefined;
  /**
   * `config` with every secret reference replaced by its value. Nothing that decides where a request goes or who pays
   * for it is left to the environment, but for Google's and Amazon's own credential chains.
   */
  readonly open: (config: unknown) => Promise<(model: string) => SdkModel>;
  /** Credentials come from the machine that ktx runs on, not from `ktx.yaml`. */
  readonly isAmbient?: boolean;
  /** Sent with every call. */
  readonly options?: Options;
  /** What marks the end of a cached prefix; undefined where the model has no markers. */
  readonly cacheMarker?: (model: string, ttl: CacheTtl) => Options | undefined;
  /** Serves the one-hour life not everywhere: `vertexFallbackTo5m` concerns it. */
  readonly mayLackOneHour?: boolean;
  /** Value of `anthropic-beta` without which this endpoint does not know the one-hour life. */
  readonly oneHourBeta?: string;
}

type Draft<TConfig extends z.ZodType> = Omit<Provider<TConfig>, 'config' | 'open' | 'account'> & {
  /** Its block in `ktx.yaml`; `secret` is a reference there and the value itself when it is opened. */
  readonly block: (secret: z.ZodString) => TConfig;
  readonly account: (config: z.infer<TConfig>) => string | undefined;
  readonly open: (config: z.infer<TConfig>) => Promise<(model: string) => SdkModel>;
};

function provider<TConfig extends z.ZodType>({
  block,
  account,
  open,
  ...rest
}: Draft<TConfig>): Provider<TConfig> {
  const resolved = block(z.string().min(1));
  const read = (config: unknown) => {
    const { data, success } = resolved.safeParse(config);
    if (success) return data;
    throw new UserError('llm_config_invalid', `The settings of ${rest.title} are not complete.`, {
      exitCode: 2,
      hint: 'ktx setup',
    });
  };
  return {
    ...rest,
    config: block(secretSchema),
    account: (config) => account(read(config)),
    open: (config) => open(read(config)),
  };
}

const apiKey = (secret: z.ZodString) =>
  secret.describe('Reference to the API key: env:NAME, file:path or keychain:service/account.');
const baseUrl = z
  .string()
  .optional()
  .describe(
    'Address of another endpoint that speaks the same protocol; may be a secret reference.',
  );
const keyOf = (name: string) => `the API key that llm.provider.${name}.api_key names`;
const anthropicMarker = (ttl: CacheTtl) => ({
  anthropic: { cacheControl: { type: 'ephemeral', ttl } },
});
/** Claude says now and then that it is still there; the idle clock wants to know. */
const pings = { anthropic: { includePings: true } };

/** ANTHROPIC_BASE_URL is by custom written without the version that the provider's package expects. */
const withVersion = (url: string): string =>
  /^https?:\/\/[^/]+\/?$/.test(url) ? `${url.replace(/\/$/, '')}/v1` : url;

/** The visible list of providers behind the AI SDK; a further one is an entry here. */
export const providers = {
  anthropic: provider({
    title: 'Anthropic API',
    block: (secret) => z.strictObject({ api_key: apiKey(secret), base_url: baseUrl }),
    account: () => keyOf('anthropic'),
    open: async ({ api_key: key, base_url: url = 'https://api.anthropic.com/v1' }) => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ apiKey: key, baseURL: withVersion(url) });
    },
    options: pings,
    cacheMarker: (_model, ttl) => anthropicMarker(ttl),
  }),
  vertex: provider({
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
      return createVertexAnthropic({ project, location, baseURL: url });
    },
    options: pings,
    cacheMarker: (_model, ttl) => anthropicMarker(ttl),
    isAmbient: true,
    mayLackOneHour: true,
  }),
  gateway: provider({
    title: 'AI Gateway',
    block: (secret) => z.strictObject({ api_key: apiKey(secret), base_url: baseUrl }),
    account: () => keyOf('gateway'),
    open: async ({ api_key: key, base_url: url }) => {
      const { createGateway } = await import('@ai-sdk/gateway');
      return createGateway({ apiKey: key, baseURL: url });
    },
    cacheMarker: (model, ttl) =>
      model.startsWith('anthropic/') ? anthropicMarker(ttl) : undefined,
    oneHourBeta: 'extended-cache-ttl-2025-04-11',
  }),
  openai: provider({
    title: 'OpenAI, or any endpoint that speaks its protocol',
    block: (secret) => z.strictObject({ api_key: apiKey(secret).optional(), base_url: baseUrl }),
    account: ({ api_key: key }) => key && keyOf('openai'),
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
      // What else speaks the protocol seldom knows `reasoning_effort`, and refuses what it does not know.
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
    // What ktx sends is not kept at OpenAI. Strict schemas have no optional fields; those of ktx do.
    options: {
      openai: { store: false, strictJsonSchema: false },
      compatible: { strictJsonSchema: false },
    },
  }),
  bedrock: provider({
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
    // Without a life of its own: not every Claude on Bedrock knows one hour.
    cacheMarker: (model) =>
      model.includes('anthropic.') ? { bedrock: { cachePoint: { type: 'default' } } } : undefined,
  }),
} as const;

export type ProviderName = keyof typeof providers;
