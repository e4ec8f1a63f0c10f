import type { LookupFunction } from 'node:net';
import { lookupPublic, refusePrivateHost, refusePrivateName } from '../../http/private-address.ts';
import { proxyRoute } from '../../http/proxy.ts';
import { sendOnce, type TlsSettings } from '../../http/send-once.ts';

/** In bytes. */
const largestDocument = 5 * 1024;
/** In milliseconds. */
const longestFetch = 3_000;

/** How documents of clients are fetched, where a test is the internet. */
export interface DocumentNetwork {
  readonly lookup: LookupFunction;
  readonly tls?: TlsSettings;
}

/**
 * Fetches what a stranger named: the document of a client. Only over https, only from a host of the
 * list, only from public addresses, without redirects, and no more than a few kilobytes.
 */
export function openClientDocuments(
  hosts: readonly string[],
  { lookup, tls }: DocumentNetwork = { lookup: lookupPublic },
) {
  const mayFetch = (text: string): boolean => {
    const url = URL.parse(text);
    return url?.protocol === 'https:' && hosts.includes(url.hostname);
  };
  return {
    mayFetch,
    async fetch(address: string | URL): Promise<Response> {
      const url = new URL(address);
      if (!mayFetch(url.href))
        throw new Error(`${url.hostname} is not in serve.auth.broker.clients`);
      refusePrivateHost(url.hostname);
      const signal = AbortSignal.timeout(longestFetch);
      const proxy = proxyRoute(url);
      if (proxy !== undefined) await refusePrivateName(url.hostname, signal);
      const { status, headers, text } = await sendOnce({
        method: 'GET',
        url,
        headers: { accept: 'application/json' },
        lookup: proxy === undefined ? lookup : undefined,
        agent: proxy?.agent,
        tls,
        maxBytes: largestDocument,
        signal,
      });
      const cacheControl = headers['cache-control'];
      // A redirect stays one: whoever asked takes nothing but 200.
      return new Response(status === 204 || status === 304 ? null : text, {
        status: status < 200 ? 502 : status,
        headers: cacheControl === undefined ? {} : { 'cache-control': cacheControl },
      });
    },
  };
}
