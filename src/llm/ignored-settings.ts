import type { ModelBackendName } from './backends.ts';
import { capabilities } from './capabilities.ts';
import type { LlmConfig, PromptCaching } from './config.ts';

/**
 * One line that lists the settings that this backend ignores; undefined if it honours all of them.
 */
export function ignoredSettingsWarning(
  { provider, promptCaching }: LlmConfig,
  effort: string | undefined,
): string | undefined {
  const { backend } = provider;
  if (backend === 'none') return undefined;
  const ignoredCaching = Object.entries(promptCaching ?? {})
    .filter(([field, value]) => value !== undefined && !honoursCaching(backend, field, value))
    .map(([field]) => `llm.promptCaching.${field}`);
  // Most endpoints that imitate OpenAI's API do not know how hard a model should think.
  const ignoresEffort = backend === 'openai' && provider.openai?.base_url !== undefined;
  const ignored = [
    ...ignoredCaching,
    ...(effort !== undefined && ignoresEffort ? ['model.effort'] : []),
  ];
  return ignored.length === 0 ? undefined : `Set but ignored by ${backend}: ${ignored.join(', ')}.`;
}

function honoursCaching(backend: ModelBackendName, field: string, value: unknown): boolean {
  const { prompt_caching: caching } = capabilities[backend];
  if (caching === 'markers') return true;
  // Caching by rules of its own can still be switched off.
  return caching === 'own' && (field === 'enabled' || (field === 'cacheSystem' && value === true));
}

/**
 * One line for each field of `llm.promptCaching` that is set and has no effect, because the backend
 * caches by its own rules. Setup, status and doctor show these lines.
 */
export function ignoredCachingFields({ provider, promptCaching }: LlmConfig): readonly string[] {
  const { backend } = provider;
  if (backend === 'none' || capabilities[backend].prompt_caching !== 'own') return [];
  if (promptCaching === undefined || promptCaching.enabled === false) return [];
  const isOneHour = isOneHourEverywhere(promptCaching);
  const isIgnored = {
    cacheSystem: promptCaching.cacheSystem === false,
    cacheTools: promptCaching.cacheTools !== undefined,
    cacheHistory: promptCaching.cacheHistory !== undefined,
    systemTtl: promptCaching.systemTtl !== undefined && !isOneHour,
    toolsTtl: promptCaching.toolsTtl !== undefined && !isOneHour,
    historyTtl: promptCaching.historyTtl !== undefined && !isOneHour,
    vertexFallbackTo5m: promptCaching.vertexFallbackTo5m !== undefined,
  };
  return Object.entries(isIgnored)
    .filter(([, ignored]) => ignored)
    .map(
      ([field]) =>
        `llm.promptCaching.${field} is ignored: ${backend} caches by its own rules. Remove it from ktx.yaml.`,
    );
}

/** True if all three lifetimes are one hour: the one setting that such a backend can follow. */
export function isOneHourEverywhere(caching: PromptCaching | undefined): boolean {
  return [caching?.systemTtl, caching?.toolsTtl, caching?.historyTtl].every((ttl) => ttl === '1h');
}
