import type { AuthMode } from '../../backends.ts';
import type { PromptCaching } from '../../config.ts';
import { isOneHourEverywhere } from '../../ignored-settings.ts';

/**
 * What never reaches a Claude Code child: credentials of an API or a cloud, routing, and whatever changes what is sent.
 * A name ends in `*` where everything that begins so is meant. A further variable is one line here.
 */
const denylist = [
  // Keys, tokens, addresses, models, headers, betas.
  'ANTHROPIC_*',
  // Routing, models, nested sessions, modes, and some thousand switches of the program: see `kept`.
  'CLAUDE*',
  'AWS_*',
  'AZURE_*',
  'BEDROCK_*',
  'CLOUD_ML_*',
  'GCLOUD_*',
  'GOOGLE_*',
  'VERTEX_*',
  // What is sent, and how long it is waited for.
  'API_TIMEOUT_MS',
  'DISABLE_COMPACT',
  'DISABLE_AUTO_COMPACT',
  'DISABLE_INTERLEAVED_THINKING',
  'DISABLE_PROMPT_CACHING*',
  'ENABLE_*',
  'FORCE_PROMPT_CACHING*',
  'MAX_MCP_OUTPUT_TOKENS',
  'MAX_STRUCTURED_OUTPUT_RETRIES',
  'MAX_THINKING_TOKENS',
  'MCP_*',
  'USE_API_CONTEXT_MANAGEMENT',
  'USE_LOCAL_OAUTH',
  'USE_STAGING_OAUTH',
  // The runtimes below it: code before the first line, or another program altogether.
  'BUN_*',
  'NODE_OPTIONS',
] as const;

/** The exceptions: where the login lives, the user's own token, the way through a proxy, files. */
const kept: ReadonlySet<string> = new Set([
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_SECURESTORAGE_CONFIG_DIR',
  // Made by `claude setup-token`: the user's own session, on machines without a browser.
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_CERT_STORE',
  'CLAUDE_CODE_CLIENT_CERT',
  'CLAUDE_CODE_CLIENT_KEY',
  'CLAUDE_CODE_CLIENT_KEY_PASSPHRASE',
  'CLAUDE_CODE_PROXY_RESOLVES_HOSTS',
  'CLAUDE_CODE_GIT_BASH_PATH',
  'CLAUDE_CODE_TMPDIR',
  'CLAUDE_TMPDIR',
  'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
]);

/** All that a child with a payer of its own gets from the machine: where programs and files are, the way to the network, the language. */
const machine = [
  'PATH',
  'HOME',
  'USERPROFILE',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_*',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SYSTEMROOT',
  'COMSPEC',
  'PATHEXT',
  'APPDATA',
  'LOCALAPPDATA',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
] as const;

/** The variables of one way to pay, and nothing of the others. */
interface Family {
  /** Sets of names, of which one has to be complete, for each thing that is needed. */
  readonly needs: readonly (readonly (readonly string[])[])[];
  /** Names that are set all or not at all. */
  readonly together?: readonly string[];
  /** All that is handed on, as the denylist writes names. */
  readonly takes: readonly string[];
  readonly sets: Readonly<Record<string, string>>;
  /** What the child must say of its account. */
  readonly account: {
    readonly apiProvider: string;
    readonly apiKeySource?: string;
    readonly tokenSource?: string;
  };
  /** For a person. */
  readonly payer: string;
}

export const families: Readonly<Record<AuthMode, Family>> = {
  api_key: {
    needs: [[['ANTHROPIC_API_KEY']]],
    takes: ['ANTHROPIC_API_KEY'],
    sets: {},
    account: { apiProvider: 'firstParty', apiKeySource: 'ANTHROPIC_API_KEY' },
    payer: 'the API key in ANTHROPIC_API_KEY',
  },
  oauth_token: {
    needs: [[['CLAUDE_CODE_OAUTH_TOKEN']]],
    takes: ['CLAUDE_CODE_OAUTH_TOKEN'],
    sets: {},
    account: { apiProvider: 'firstParty', tokenSource: 'CLAUDE_CODE_OAUTH_TOKEN' },
    payer: 'the token in CLAUDE_CODE_OAUTH_TOKEN',
  },
  bedrock: {
    needs: [[['AWS_REGION'], ['AWS_DEFAULT_REGION']]],
    together: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
    takes: ['AWS_*'],
    sets: { CLAUDE_CODE_USE_BEDROCK: '1' },
    account: { apiProvider: 'bedrock' },
    payer: 'the AWS account of the credential chain (Amazon Bedrock)',
  },
  vertex: {
    needs: [
      [['CLOUD_ML_REGION']],
      [['ANTHROPIC_VERTEX_PROJECT_ID'], ['GOOGLE_CLOUD_PROJECT']],
      [['GOOGLE_APPLICATION_CREDENTIALS']],
    ],
    takes: [
      'CLOUD_ML_REGION',
      'ANTHROPIC_VERTEX_PROJECT_ID',
      'GOOGLE_CLOUD_PROJECT',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'VERTEX_REGION_*',
    ],
    sets: { CLAUDE_CODE_USE_VERTEX: '1' },
    account: { apiProvider: 'vertex' },
    payer: 'the Google Cloud project in ANTHROPIC_VERTEX_PROJECT_ID (Vertex AI)',
  },
  foundry: {
    needs: [
      [['ANTHROPIC_FOUNDRY_RESOURCE'], ['ANTHROPIC_FOUNDRY_BASE_URL']],
      [
        ['ANTHROPIC_FOUNDRY_API_KEY'],
        ['AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET'],
      ],
    ],
    takes: ['ANTHROPIC_FOUNDRY_*', 'AZURE_*'],
    sets: { CLAUDE_CODE_USE_FOUNDRY: '1' },
    account: { apiProvider: 'foundry' },
    payer: 'the Microsoft Foundry resource in ANTHROPIC_FOUNDRY_RESOURCE',
  },
};

/** What ktx sets: no file is read for a prompt, no other model stands in, nothing runs beside the call. */
const set = {
  CLAUDE_AGENT_SDK_CLIENT_APP: 'ktx',
  CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS: '1',
  CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: '1',
  CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
  CLAUDE_CODE_DISABLE_CRON: '1',
  CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK: '1',
  CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK: '1',
  CLAUDE_CODE_MAX_RETRIES: '2',
  // No inbox for messages of other sessions on the machine.
  CLAUDE_CODE_RESTRICTED: '1',
  DISABLE_AUTOUPDATER: '1',
} as const;

function isDenied(name: string): boolean {
  // Windows does not tell cases apart.
  const upper = name.toUpperCase();
  if (kept.has(upper)) return false;
  return matches(upper, denylist);
}

function matches(name: string, rules: readonly string[]): boolean {
  return rules.some((rule) =>
    rule.endsWith('*') ? name.startsWith(rule.slice(0, -1)) : name === rule,
  );
}

/** The whole environment of a child on the user's own session; `added` is what `ignored-settings.ts` asks for. */
export function childEnv(
  env: NodeJS.ProcessEnv,
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const inherited = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isDenied(entry[0]),
  );
  return { ...Object.fromEntries(inherited), ...set, ...added };
}

/**
 * The whole environment of a child with a payer of its own: built up, nothing inherited but what `machine` and the family
 * name. A login of the machine is out of its reach, because it has a configuration folder of its own.
 */
export function agentEnv(
  env: NodeJS.ProcessEnv,
  mode: AuthMode,
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  const { takes, sets } = families[mode];
  const given = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const taken = given.filter(([name]) => matches(name.toUpperCase(), [...machine, ...takes]));
  return {
    ...Object.fromEntries(taken),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...set,
    ...sets,
    ...added,
  };
}

/** What the mode needs and the environment lacks, all at once. */
export function missingVariables(env: NodeJS.ProcessEnv, mode: AuthMode): readonly string[] {
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== '';
  const { needs, together = [] } = families[mode];
  const lacking = needs.filter((choices) => !choices.some((names) => names.every(isSet)));
  const halves = together.some(isSet) ? together.filter((name) => !isSet(name)) : [];
  return [...lacking.map((choices) => choices.map(inWords).join(' or ')), ...halves];
}

function inWords([first = '', ...rest]: readonly string[]): string {
  return rest.length === 0 ? first : `${first} with ${rest.join(' and ')}`;
}

/** The part of `llm.promptCaching` that a child can be told, as its environment. */
export function cachingEnv(caching: PromptCaching | undefined): Record<string, string> {
  if (caching?.enabled === false) return { DISABLE_PROMPT_CACHING: '1' };
  return isOneHourEverywhere(caching) ? { ENABLE_PROMPT_CACHING_1H: '1' } : {};
}
