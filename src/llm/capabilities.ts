import type { ModelBackendName } from './backends.ts';

/** What a backend does by itself. `ktx` means that ktx does it, the same way for every backend. */
interface BackendCapabilities {
  readonly streaming: 'tokens';
  readonly structured_output: 'native';
  readonly permission_prompts: 'ktx';
  readonly external_mcp: 'ktx';
  /**
   * `reported`: the backend reports the cost of a call. `prices`: ktx needs `llm.prices` for it.
   */
  readonly budget: 'reported' | 'prices';
  /** True if a temperature can be set. */
  readonly sampling: boolean;
  readonly effort: boolean;
  /** `markers`: honours `llm.promptCaching`. `own`: caches by its own rules. */
  readonly prompt_caching: 'markers' | 'own' | 'none';
  readonly telemetry: 'ktx';
}

const api = {
  streaming: 'tokens',
  structured_output: 'native',
  permission_prompts: 'ktx',
  external_mcp: 'ktx',
  budget: 'prices',
  sampling: true,
  effort: true,
  prompt_caching: 'markers',
  telemetry: 'ktx',
} as const;
const claude = { ...api, budget: 'reported', sampling: false, prompt_caching: 'own' } as const;

/** The documentation prints this table as it is. */
export const capabilities: Readonly<Record<ModelBackendName, BackendCapabilities>> = {
  anthropic: api,
  vertex: api,
  gateway: { ...api, budget: 'reported' },
  openai: { ...api, prompt_caching: 'none' },
  bedrock: api,
  'claude-code': claude,
  'claude-agent': claude,
};
