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
  return denylist.some((rule) => (rule.endsWith('*') ? upper.startsWith(rule.slice(0, -1)) : upper === rule));
}

/** The whole environment of a child; `added` is what `caching.ts` asks for. */
export function childEnv(env: NodeJS.ProcessEnv, added: Readonly<Record<string, string>> = {}): Record<string, string> {
  const inherited = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && !isDenied(entry[0]));
  return { ...Object.fromEntries(inherited), ...set, ...added };
}
