import type { LanguageModelMiddleware } from 'ai';
import type { PromptCaching } from '../config.ts';
import type { CacheTtl, Provider } from './providers.ts';

export type RequestParams = Parameters<
  NonNullable<LanguageModelMiddleware['transformParams']>
>[0]['params'];

/**
 * The request with up to three cache markers: on the system text, on the last tool, on the last message. A marker ends
 * a prefix, so everything before it must stay the same from call to call: that is why tools are sent sorted by name.
 */
export function withCacheMarkers(
  params: RequestParams,
  provider: Provider,
  cached: { model: string; caching: PromptCaching },
): RequestParams {
  const { caching, model } = cached;
  const { enabled = true, cacheSystem = true, cacheTools = true, cacheHistory = true } = caching;
  const ttls = new Set<CacheTtl>();
  const marked = <T extends { providerOptions?: object }>(part: T, wanted: CacheTtl): T => {
    const ttl = provider.mayLackOneHour && caching.vertexFallbackTo5m ? '5m' : wanted;
    const marker = enabled ? provider.cacheMarker?.(model, ttl) : undefined;
    if (marker === undefined) return part;
    ttls.add(ttl);
    return { ...part, providerOptions: { ...part.providerOptions, ...marker } };
  };
  const [last, lastTool] = [params.prompt.length - 1, (params.tools?.length ?? 0) - 1];
  const prompt = params.prompt.map((message, index) => {
    if (message.role === 'system')
      return cacheSystem ? marked(message, caching.systemTtl ?? '1h') : message;
    return cacheHistory && index === last ? marked(message, caching.historyTtl ?? '5m') : message;
  });
  const tools = params.tools?.map((tool, index) =>
    cacheTools && index === lastTool && tool.type === 'function'
      ? marked(tool, caching.toolsTtl ?? '1h')
      : tool,
  );
  const beta = ttls.has('1h') ? provider.oneHourBeta : undefined;
  return {
    ...params,
    prompt,
    tools,
    headers: beta === undefined ? params.headers : { ...params.headers, 'anthropic-beta': beta },
  };
}
