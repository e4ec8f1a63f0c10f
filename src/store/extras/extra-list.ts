/** Packages that most people do not need. They are fetched when somebody asks for them. */
interface Extra {
  /** What it is for, as a person who chooses reads it. */
  readonly title: string;
  /** The packages that ktx imports. */
  readonly packages: readonly string[];
  /** About how much it takes on disk. */
  readonly megabytes: number;
}

export const extras = {
  'claude-code': {
    title: 'Claude Code as the model: your own session, or an account of its own',
    packages: ['@anthropic-ai/claude-agent-sdk'],
    megabytes: 430,
  },
  anthropic: {
    title: 'models of the Anthropic API',
    packages: ['ai', '@ai-sdk/anthropic'],
    megabytes: 40,
  },
  openai: {
    title: 'models of OpenAI, or of any endpoint that speaks its protocol',
    packages: ['ai', '@ai-sdk/openai', '@ai-sdk/openai-compatible'],
    megabytes: 55,
  },
  gateway: {
    title: 'models of the AI Gateway',
    packages: ['ai', '@ai-sdk/gateway'],
    megabytes: 40,
  },
  vertex: {
    title: 'models of Google Vertex AI',
    packages: ['ai', '@ai-sdk/google-vertex'],
    megabytes: 90,
  },
  bedrock: {
    title: 'models of Amazon Bedrock',
    packages: ['ai', '@ai-sdk/amazon-bedrock'],
    megabytes: 65,
  },
  sqlserver: {
    title: 'SQL Server and Azure SQL as a warehouse',
    packages: ['tedious'],
    megabytes: 76,
  },
  broker: {
    title: 'the login that claude.ai, ChatGPT and editors ask for (serve.auth.mode: broker)',
    packages: ['oidc-provider', 'openid-client'],
    megabytes: 5,
  },
  queue: {
    title: 'the queue of `ktx worker` in Postgres',
    packages: ['pg-boss'],
    megabytes: 9,
  },
} as const satisfies Record<string, Extra>;

export type ExtraName = keyof typeof extras;
export const extraNames = Object.keys(extras) as readonly ExtraName[];
