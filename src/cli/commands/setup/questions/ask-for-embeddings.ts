import {
  embeddingProviders,
  type EmbeddingProviderName,
} from '../../../../llm/ai-sdk/embedding-providers.ts';
import type { CommandContext } from '../../../command.ts';
import { promptForFlag, requireAnswer } from '../../../terminal/prompt.ts';

const questions = {
  model: 'Embedding model',
  api_key: 'API key, as a reference: env:NAME, file:path or keychain:ktx/account',
  base_url: 'Address of the server',
  project: 'Google Cloud project',
  location: 'Region, such as global or europe-west1',
  region: 'AWS region; credentials come from the AWS environment',
};

/** What is asked about a provider, in order, with what most people answer. */
type ProposedSettings = readonly (readonly [keyof typeof questions, string])[];

interface EmbeddingsChoice {
  readonly label: string;
  readonly provider: EmbeddingProviderName;
  readonly settings: ProposedSettings;
}

const choices: Readonly<Record<string, EmbeddingsChoice>> = {
  openai: {
    label: 'OpenAI',
    provider: 'openai',
    settings: [
      ['model', 'text-embedding-3-small'],
      ['api_key', 'env:OPENAI_API_KEY'],
    ],
  },
  endpoint: {
    label: 'a server that speaks its protocol, such as Ollama on this machine',
    provider: 'openai',
    settings: [
      ['base_url', 'http://localhost:11434/v1'],
      ['model', 'nomic-embed-text'],
    ],
  },
  vertex: {
    label: embeddingProviders.vertex.title,
    provider: 'vertex',
    settings: [
      ['model', 'text-embedding-005'],
      ['project', ''],
      ['location', 'global'],
    ],
  },
  bedrock: {
    label: embeddingProviders.bedrock.title,
    provider: 'bedrock',
    settings: [
      ['model', 'amazon.titan-embed-text-v2:0'],
      ['region', ''],
    ],
  },
  gateway: {
    label: embeddingProviders.gateway.title,
    provider: 'gateway',
    settings: [
      ['model', 'openai/text-embedding-3-small'],
      ['api_key', 'env:AI_GATEWAY_API_KEY'],
    ],
  },
};

/** Asks a person who turns texts into vectors. Returns flags of `ktx setup`; none for nobody. */
export async function askForEmbeddings(context: CommandContext): Promise<readonly string[]> {
  const { signal } = context;
  const options = [
    { value: 'none', label: 'none: names and texts are compared by their words' },
    ...Object.entries(choices).map(([value, { label }]) => ({ value, label })),
  ];
  const message = 'Find what means the same, by embeddings?';
  const flag = '--embeddings-provider';
  const answer = await promptForFlag(flag, context, ({ select }) =>
    select({ message, options, initialValue: 'none', signal }),
  );
  const choice = choices[answer];
  if (choice === undefined) return [];
  const { provider, settings } = choice;
  const flags = [flag, provider];
  for (const [key, proposed] of settings) {
    const name = `--embeddings-${key.replaceAll('_', '-')}`;
    const initialValue = proposed === '' ? undefined : proposed;
    const asked = { message: questions[key], initialValue, signal };
    const value = await promptForFlag(name, context, ({ text }) =>
      text({ ...asked, validate: requireAnswer }),
    );
    flags.push(name, value);
  }
  return flags;
}
