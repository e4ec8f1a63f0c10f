import type { AuthMode } from '../../backends.ts';
import type { PromptCaching } from '../../config.ts';
import { isOneHourEverywhere } from '../../ignored-settings.ts';

/**
 * Variables that never reach a Claude Code child: credentials of APIs and clouds, routing, and
 * everything that changes what is sent. A name that ends in `*` is a prefix.
 */
const denylist = [
  // Keys, tokens, addresses, models, headers, betas.
  'ANTHROPIC_*',
  // Routing, models, nested sessions, modes and many switches of the program. Exceptions:
  // `allowlist`.
  'CLAUDE*',
  'AWS_*',
  'AZURE_*',
  'BEDROCK_*',
  'CLOUD_ML_*',
  'GCLOUD_*',
  'GOOGLE_*',
  'VERTEX_*',
  // What is sent, and timeouts.
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
  // The runtimes of the program: they could run other code first.
  'BUN_*',
  'NODE_OPTIONS',
] as const;

/**
 * Exceptions from the denylist: the place of the login, the user's own token, proxy settings,
 * files.
 */
const allowlist: ReadonlySet<string> = new Set([
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

/**
 * What a child with an account of its own gets from the machine: paths, network settings, language.
 */
const machineVariables = [
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

/** The variables of one auth mode. */
interface AuthVariables {
  /** For each requirement its alternatives; all names of one alternative have to be set. */
  readonly needs: readonly (readonly (readonly string[])[])[];
  /** If one of these is set, all have to be. */
  readonly together?: readonly string[];
  /** Variables that the child inherits. A name that ends in `*` is a prefix. */
  readonly inherits: readonly string[];
  readonly sets: Readonly<Record<string, string>>;
  /** What the child has to report about its account. */
  readonly account: {
    readonly apiProvider: string;
    readonly apiKeySource?: string;
    readonly tokenSource?: string;
  };
  /** Shown to a person. */
  readonly payer: string;
  /**
   * Set if the mode uses a login of this machine: how a person logs in. Other modes see no login.
   */
  readonly login?: string;
}

export const authVariables: Readonly<Record<AuthMode, AuthVariables>> = {
  api_key: {
    needs: [[['ANTHROPIC_API_KEY']]],
    inherits: ['ANTHROPIC_API_KEY'],
    sets: {},
    account: { apiProvider: 'firstParty', apiKeySource: 'ANTHROPIC_API_KEY' },
    payer: 'the API key in ANTHROPIC_API_KEY',
  },
  oauth_token: {
    needs: [[['CLAUDE_CODE_OAUTH_TOKEN']]],
    inherits: ['CLAUDE_CODE_OAUTH_TOKEN'],
    sets: {},
    account: { apiProvider: 'firstParty', tokenSource: 'CLAUDE_CODE_OAUTH_TOKEN' },
    payer: 'the token in CLAUDE_CODE_OAUTH_TOKEN',
  },
  console: {
    needs: [],
    inherits: ['CLAUDE_CONFIG_DIR', 'CLAUDE_SECURESTORAGE_CONFIG_DIR'],
    sets: {},
    account: { apiProvider: 'firstParty', apiKeySource: '/login managed key' },
    payer: 'the Anthropic Console account that Claude Code is logged in with',
    login: 'claude auth login --console',
  },
  bedrock: {
    needs: [[['AWS_REGION'], ['AWS_DEFAULT_REGION']]],
    together: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
    inherits: ['AWS_*'],
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
    inherits: [
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
    inherits: ['ANTHROPIC_FOUNDRY_*', 'AZURE_*'],
    sets: { CLAUDE_CODE_USE_FOUNDRY: '1' },
    account: { apiProvider: 'foundry' },
    payer: 'the Microsoft Foundry resource in ANTHROPIC_FOUNDRY_RESOURCE',
  },
};

/**
 * What ktx sets: prompts read no files, no other model stands in, nothing runs in the background,
 * nothing is rewritten.
 */
const fixedVariables = {
  CLAUDE_AGENT_SDK_CLIENT_APP: 'ktx',
  CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS: '1',
  CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: '1',
  CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
  CLAUDE_CODE_DISABLE_CRON: '1',
  CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK: '1',
  // A broken stream would be asked for again without a stream.
  CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
  CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK: '1',
  CLAUDE_CODE_DISABLE_REFUSAL_RETRY: '1',
  // The program announces this one with the pause that the provider asks for, and ktx takes over
  // then.
  CLAUDE_CODE_MAX_RETRIES: '1',
  CLAUDE_CODE_NO_MODEL_FALLBACK: '1',
  // No messages from other sessions on the machine.
  CLAUDE_CODE_RESTRICTED: '1',
  DISABLE_AUTOUPDATER: '1',
  // A context that is too long is an error. Otherwise a summary that the model wrote would replace
  // the prompt and the marks around foreign text.
  DISABLE_AUTO_COMPACT: '1',
  DISABLE_COMPACT: '1',
  // Otherwise a service could switch on features that rewrite the conversation.
  DISABLE_GROWTHBOOK: '1',
  // With less, answers of tools would be written to files.
  MAX_MCP_OUTPUT_TOKENS: '250000',
} as const;

/** Variables that managed settings may set: they only switch off what ktx does not use. */
export const harmlessManagedVariables: ReadonlySet<string> = new Set([
  'BASH_DEFAULT_TIMEOUT_MS',
  'BASH_MAX_OUTPUT_LENGTH',
  'BASH_MAX_TIMEOUT_MS',
  'CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY',
  'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
  'CLAUDE_CODE_DISABLE_TERMINAL_TITLE',
  'DISABLE_AUTOUPDATER',
  'DISABLE_BUG_COMMAND',
  'DISABLE_COST_WARNINGS',
  'DISABLE_ERROR_REPORTING',
  'DISABLE_FEEDBACK_COMMAND',
  'DISABLE_GROWTHBOOK',
  'DISABLE_INSTALLATION_CHECKS',
  'DISABLE_TELEMETRY',
]);

/** What variables do that managed settings like to set. */
export const variableEffects: ReadonlyMap<string, string> = new Map([
  ['ANTHROPIC_BASE_URL', 'sends every request to another address'],
  ['ANTHROPIC_CUSTOM_HEADERS', 'adds headers to every request'],
  ['CLAUDE_CODE_ENABLE_TELEMETRY', 'reports to a collector'],
  ['HTTPS_PROXY', 'sends every request through a proxy'],
  ['HTTP_PROXY', 'sends every request through a proxy'],
]);

function isDenied(name: string): boolean {
  // Windows ignores case.
  const upper = name.toUpperCase();
  return !allowlist.has(upper) && matchesRule(upper, denylist);
}

function matchesRule(name: string, rules: readonly string[]): boolean {
  return rules.some((rule) =>
    rule.endsWith('*') ? name.startsWith(rule.slice(0, -1)) : name === rule,
  );
}

/** The environment of a child that uses the user's own session: everything except the denylist. */
export function ownSessionEnv(
  env: NodeJS.ProcessEnv,
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const inherited = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isDenied(entry[0]),
  );
  return { ...Object.fromEntries(inherited), ...fixedVariables, ...added };
}

/**
 * The environment of a child with an account of its own. It inherits only the machine variables and
 * those of the auth mode. Except with a mode that has a `login`, it cannot use a login of the
 * machine, because `added` names a configuration folder of its own.
 */
export function authModeEnv(
  env: NodeJS.ProcessEnv,
  mode: AuthMode,
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  const { inherits, sets } = authVariables[mode];
  const nonEmpty = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const inherited = nonEmpty.filter(([name]) =>
    matchesRule(name.toUpperCase(), [...machineVariables, ...inherits]),
  );
  return {
    ...Object.fromEntries(inherited),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...fixedVariables,
    ...sets,
    ...added,
  };
}

/** Everything that the mode needs and the environment lacks, as text. */
export function missingVariables(env: NodeJS.ProcessEnv, mode: AuthMode): readonly string[] {
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== '';
  const { needs, together = [] } = authVariables[mode];
  const unmet = needs.filter((alternatives) => !alternatives.some((names) => names.every(isSet)));
  const incomplete = together.some(isSet) ? together.filter((name) => !isSet(name)) : [];
  return [...unmet.map((alternatives) => alternatives.map(joinNames).join(' or ')), ...incomplete];
}

/** `A with B and C` */
function joinNames([first = '', ...rest]: readonly string[]): string {
  return rest.length === 0 ? first : `${first} with ${rest.join(' and ')}`;
}

/** The part of `llm.promptCaching` that a child can be told, as its environment. */
export function cachingEnv(caching: PromptCaching | undefined): Record<string, string> {
  if (caching?.enabled === false) return { DISABLE_PROMPT_CACHING: '1' };
  return isOneHourEverywhere(caching) ? { ENABLE_PROMPT_CACHING_1H: '1' } : {};
}
