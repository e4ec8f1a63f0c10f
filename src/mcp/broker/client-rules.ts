import { isRecord } from '../../lib/json.ts';
import { isLoopback } from '../../http/private-address.ts';

/** Schemes that run something, or show a page of nobody. */
const refusedSchemes = new Set(['javascript:', 'data:', 'blob:', 'file:', 'about:', 'vbscript:']);

/**
 * Why a client may not send people to one of its addresses; undefined if it may. They lead to this
 * machine, or to a host of the list: by https, or by the scheme of a program.
 */
export function refuseRedirects(redirects: unknown, hosts: readonly string[]): string | undefined {
  if (!Array.isArray(redirects) || redirects.length === 0) return 'it has no redirect_uris';
  const wrong = redirects.find((text: unknown) => !mayRedirect(text, hosts));
  return wrong === undefined ? undefined : 'its redirect_uris lead to hosts that are not allowed';
}

function mayRedirect(text: unknown, hosts: readonly string[]): boolean {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'http:') return isLoopback(url.hostname);
  return !refusedSchemes.has(url.protocol) && hosts.includes(url.hostname);
}

/** True for an address of this machine: any of its programs may be behind it. */
export function leadsToThisMachine(text: string): boolean {
  return URL.parse(text)?.protocol === 'http:';
}

/** How a policy of forms names where an address leads: its origin, or its scheme. */
export function formTargetOf(text: string): string {
  const { origin, protocol } = new URL(text);
  return origin === 'null' ? protocol : origin;
}

/** A program of a machine listens on whatever port is free: only native clients may. */
export function setApplicationType(metadata: unknown): void {
  if (!isRecord(metadata)) return;
  const { redirect_uris: redirects } = metadata;
  const isNative =
    Array.isArray(redirects) &&
    redirects.some((text) => typeof text === 'string' && !text.startsWith('https:'));
  if (isNative) Object.assign(metadata, { application_type: 'native' });
}
