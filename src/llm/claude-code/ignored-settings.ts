import type { PromptCaching } from '../config.ts';

/** What a child can be told of `llm.promptCaching`, as its environment. */
export function cachingEnv(caching: PromptCaching | undefined): Record<string, string> {
  if (caching?.enabled === false) return { DISABLE_PROMPT_CACHING: '1' };
  return isAllHour(caching) ? { ENABLE_PROMPT_CACHING_1H: '1' } : {};
}

/** A line for each field that is set and has no effect on Claude Code: the same for setup, status and doctor. */
export function ignoredCaching(caching: PromptCaching | undefined): readonly string[] {
  if (caching === undefined || caching.enabled === false) return [];
  const isSet = {
    cacheSystem: caching.cacheSystem === false,
    cacheTools: caching.cacheTools !== undefined,
    cacheHistory: caching.cacheHistory !== undefined,
    systemTtl: caching.systemTtl !== undefined && !isAllHour(caching),
    toolsTtl: caching.toolsTtl !== undefined && !isAllHour(caching),
    historyTtl: caching.historyTtl !== undefined && !isAllHour(caching),
    vertexFallbackTo5m: caching.vertexFallbackTo5m !== undefined,
  };
  const names = Object.entries(isSet).flatMap(([name, is]) => (is ? [name] : []));
  return names.map(
    (name) =>
      `llm.promptCaching.${name} is ignored: Claude Code caches by its own rules. Take it out of ktx.yaml.`,
  );
}

function isAllHour(caching: PromptCaching | undefined): boolean {
  return [caching?.systemTtl, caching?.toolsTtl, caching?.historyTtl].every((ttl) => ttl === '1h');
}
