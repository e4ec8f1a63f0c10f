import { isApiProvider, type BackendName } from '../backends.ts';
import type { LlmConfig } from '../config.ts';
import { isSecretReference } from '../../store/secrets.ts';

const anthropicHost = 'api.anthropic.com';

type ProviderConfig = LlmConfig['provider'];

/** The host that the calls of a configuration go to, as far as the configuration tells. */
export function destinationHost(provider: ProviderConfig, env: NodeJS.ProcessEnv): string {
  const { backend } = provider;
  const baseUrl = isApiProvider(backend) ? provider[backend]?.base_url : undefined;
  if (baseUrl === undefined) return defaultHosts[backend](provider, env);
  return isSecretReference(baseUrl) ? baseUrl : (URL.parse(baseUrl)?.host ?? baseUrl);
}

const defaultHosts: Readonly<
  Record<BackendName, (provider: ProviderConfig, env: NodeJS.ProcessEnv) => string>
> = {
  none: () => '',
  anthropic: () => anthropicHost,
  vertex: ({ vertex }) => vertexHost(vertex?.location),
  gateway: () => 'ai-gateway.vercel.sh',
  openai: () => 'api.openai.com',
  bedrock: ({ bedrock }) => bedrockHost(bedrock?.region),
  'claude-code': () => anthropicHost,
  'claude-agent': ({ auth = 'api_key' }, env) => hostOfAuthMode(auth, env),
};

function hostOfAuthMode(auth: NonNullable<ProviderConfig['auth']>, env: NodeJS.ProcessEnv): string {
  switch (auth) {
    case 'api_key':
    case 'oauth_token':
    case 'console':
      return anthropicHost;
    case 'bedrock':
      return bedrockHost(env['AWS_REGION']);
    case 'vertex':
      return vertexHost(env['CLOUD_ML_REGION']);
    case 'foundry':
      return `${env['ANTHROPIC_FOUNDRY_RESOURCE'] ?? '<resource>'}.services.ai.azure.com`;
    default:
      return auth satisfies never;
  }
}

function vertexHost(location = '<location>'): string {
  return location === 'global'
    ? 'aiplatform.googleapis.com'
    : `${location}-aiplatform.googleapis.com`;
}

function bedrockHost(region = '<region>'): string {
  return `bedrock-runtime.${region}.amazonaws.com`;
}
