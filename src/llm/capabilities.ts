import type { BackendName, LlmConfig } from './config.ts';

/** What a backend does by itself. What ktx does above all of them (permissions, MCP servers, money, spans) is `ktx`. */
interface Capabilities {
  readonly streaming: 'tokens';
  readonly structured_output: 'native';
  readonly permission_prompts: 'ktx';
  readonly external_mcp: 'ktx';
  /** Whether it tells what a call cost, or `llm.prices` has to. */
  readonly budget: 'told' | 'prices';
  /** A temperature can be set. */
  readonly sampling: boolean;
  readonly effort: boolean;
  /** Markers of `llm.promptCaching`, or rules of its own. */
  readonly prompt_caching: 'markers' | 'own' | 'none';
  readonly telemetry: 'ktx';
}

const common = {
  streaming: 'tokens',
  structured_output: 'native',
  permission_prompts: 'ktx',
  external_mcp: 'ktx',
  telemetry: 'ktx',
} as const;
const api = { ...common, budget: 'prices', sampling: true, effort: true } as const;
const claude = {
  ...common,
  budget: 'told',
  sampling: false,
  effort: true,
  prompt_caching: 'own',
} as const;

export const capabilities: Readonly<Record<Exclude<BackendName, 'none'>, Capabilities>> = {
  anthropic: { ...api, prompt_caching: 'markers' },
  vertex: { ...api, prompt_caching: 'markers' },
  gateway: { ...api, budget: 'told', prompt_caching: 'markers' },
  openai: { ...api, prompt_caching: 'none' },
  bedrock: { ...api, prompt_caching: 'markers' },
  'claude-code': claude,
  'claude-agent': claude,
};

/** Settings that are made and that the backend cannot honour, in one line; undefined where there are none. */
export function ignoredLine(
  { provider, promptCaching }: LlmConfig,
  effort: string | undefined,
): string | undefined {
  const { backend } = provider;
  if (backend === 'none') return undefined;
  const can = capabilities[backend];
  // What speaks the protocol of OpenAI seldom knows how hard to think.
  const knowsEffort =
    can.effort && !(backend === 'openai' && provider.openai?.base_url !== undefined);
  const names = Object.entries(promptCaching ?? {}).filter(
    ([name, value]) => value !== undefined && !isHonoured(can, name, value),
  );
  const ignored = [
    ...names.map(([name]) => `llm.promptCaching.${name}`),
    ...(effort !== undefined && !knowsEffort ? ['model.effort'] : []),
  ];
  return ignored.length === 0 ? undefined : `Set but ignored by ${backend}: ${ignored.join(', ')}.`;
}

/** Claude Code caches by its own rules, which can be switched off. */
function isHonoured(
  { prompt_caching: caching }: Capabilities,
  name: string,
  value: unknown,
): boolean {
  if (caching === 'markers') return true;
  return caching === 'own' && (name === 'enabled' || (name === 'cacheSystem' && value === true));
}
