import type { ExtraName } from '../store/extras/extra-list.ts';
import { providers, type ProviderName } from './ai-sdk/providers.ts';

/** Every value of `llm.provider.backend`. All but `none` and the last two go through the AI SDK. */
export const backends = [
  'none',
  'anthropic',
  'vertex',
  'gateway',
  'openai',
  'bedrock',
  'claude-code',
  'claude-agent',
] as const;
export type BackendName = (typeof backends)[number];
/** The backends that can answer a call. */
export type ModelBackendName = Exclude<BackendName, 'none'>;

/** Every value of `llm.provider.auth`: the account that pays for `claude-agent`. */
export const authModes = [
  'api_key',
  'oauth_token',
  'console',
  'bedrock',
  'vertex',
  'foundry',
] as const;
export type AuthMode = (typeof authModes)[number];

interface BackendProfile {
  /** Shown to a person who chooses a backend. */
  readonly title: string;
  /** Flags of `ktx setup` that this backend needs, with a leading space. */
  readonly setupFlags: string;
  /** Models that presets choose from; undefined if only the account's owner knows the names. */
  readonly models?: ModelFamily;
  /** True if it uses the login of the user on this machine and needs no other setting. */
  readonly usesLocalSession?: boolean;
  /** True if it takes `llm.provider.auth`. */
  readonly takesAuthMode?: boolean;
  /** Provider name in the OpenTelemetry conventions for generative AI. */
  readonly telemetryProvider: string;
}

/** Model ids by size. */
export interface ModelFamily {
  readonly small: string;
  readonly medium: string;
  readonly large: string;
}

const claudeAliases: ModelFamily = { small: 'haiku', medium: 'sonnet', large: 'opus' };
const apiModels: ModelFamily = {
  small: 'claude-haiku-4-5',
  medium: 'claude-sonnet-4-6',
  large: 'claude-opus-4-7',
};

/** The visible list of backends. Code outside a backend's folder asks here and names no backend. */
export const backendProfiles: Readonly<Record<ModelBackendName, BackendProfile>> = {
  'claude-code': {
    title: 'your own local Claude Code session',
    setupFlags: '',
    models: claudeAliases,
    usesLocalSession: true,
    telemetryProvider: 'anthropic',
  },
  anthropic: {
    title: providers.anthropic.title,
    setupFlags: ' --llm-api-key env:ANTHROPIC_API_KEY',
    models: apiModels,
    telemetryProvider: 'anthropic',
  },
  vertex: {
    title: providers.vertex.title,
    setupFlags: ' --llm-project <project> --llm-location global',
    models: apiModels,
    telemetryProvider: 'gcp.vertex_ai',
  },
  gateway: {
    title: providers.gateway.title,
    setupFlags: ' --llm-api-key env:AI_GATEWAY_API_KEY',
    models: {
      small: 'anthropic/claude-haiku-4.5',
      medium: 'anthropic/claude-sonnet-4.6',
      large: 'anthropic/claude-opus-4.7',
    },
    telemetryProvider: 'vercel.ai_gateway',
  },
  openai: {
    title: providers.openai.title,
    setupFlags: ' --llm-api-key env:OPENAI_API_KEY --llm-model <model>',
    telemetryProvider: 'openai',
  },
  bedrock: {
    title: providers.bedrock.title,
    setupFlags: ' --llm-region <region> --llm-model <model>',
    telemetryProvider: 'aws.bedrock',
  },
  'claude-agent': {
    title: 'Claude Code with an account of its own (llm.provider.auth)',
    setupFlags: ' --llm-auth api_key',
    models: claudeAliases,
    takesAuthMode: true,
    telemetryProvider: 'anthropic',
  },
};

/** The extra with the packages of a backend. */
export function extraOfBackend(backend: ModelBackendName): ExtraName {
  return backend === 'claude-agent' ? 'claude-code' : backend;
}

/** The backend that hints suggest, because it needs no key. */
export const suggestedBackend: ModelBackendName = 'claude-code';

/** True for backends that go through the AI SDK; each has its own block under `llm.provider`. */
export function isApiProvider(backend: BackendName): backend is ProviderName {
  return Object.hasOwn(providers, backend);
}

export function usesLocalSession(backend: BackendName): boolean {
  return backend !== 'none' && backendProfiles[backend].usesLocalSession === true;
}

export function takesAuthMode(backend: BackendName): boolean {
  return backend !== 'none' && backendProfiles[backend].takesAuthMode === true;
}
