import type { LanguageModelMiddleware } from 'ai';
import type { PromptCaching } from '../config.ts';
import type { CacheTtl, Provider } from './providers.ts';

export type RequestParams = Parameters<
  NonNullable<LanguageModelMiddleware['transformParams']>
>[0]['params'];

/**
 * Adds up to three cache markers to a request: on the system text, the last tool and the last
 * message. A marker ends a cached prefix, so everything before it must be the same in every call.
 * That is why tools are sent sorted by name.
 */
export function addCacheMarkers(
  params: RequestParams,
  provider: Provider,
  { model, caching }: { model: string; caching: PromptCaching },
): RequestParams {
  const { enabled = true, cacheSystem = true, cacheTools = true, cacheHistory = true } = caching;
  const ttls = new Set<CacheTtl>();
  const mark = <T extends { providerOptions?: object }>(part: T, wanted: CacheTtl): T => {
    const ttl = provider.mayLackOneHour && caching.vertexFallbackTo5m ? '5m' : wanted;
    const marker = enabled ? provider.cacheMarker?.(model, ttl) : undefined;
    if (marker === undefined) return part;
    ttls.add(ttl);
    return { ...part, providerOptions: { ...part.providerOptions, ...marker } };
  };
  const lastMessage = params.prompt.length - 1;
  const lastTool = (params.tools?.length ?? 0) - 1;
  const prompt = params.prompt.map((message, index) => {
    if (message.role === 'system')
      return cacheSystem ? mark(message, caching.systemTtl ?? '1h') : message;
    return cacheHistory && index === lastMessage
      ? mark(message, caching.historyTtl ?? '5m')
      : message;
  });
  const tools = params.tools?.map((tool, index) =>
    cacheTools && index === lastTool && tool.type === 'function'
      ? mark(tool, caching.toolsTtl ?? '1h')
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
