import { sha256 } from '../../lib/hash.ts';
import type { Effect } from './effect.ts';

/** Parameters of an address that hold a secret. */
const secretParameters = /^(?:password|passwd|pwd|token|access_token|api_?key|key|secret)$/i;

/**
 * The host of an address, and the address without its password. `name` is the key, or the reference
 * that supplied the text.
 */
export function describeAddress(name: string, text: string, port?: number): readonly Effect[] {
  const url = text.includes('://') ? URL.parse(text) : null;
  if (url !== null && url.protocol !== 'file:') return describeUrl(name, url);
  if (url?.protocol === 'file:') return [{ kind: 'path', text: url.pathname }];
  if (/^[./~]|^[A-Za-z]:[\\/]/.test(text)) return [{ kind: 'path', text }];
  // git@host:path
  const [, host, path] = /^(?:[^\s@/:]+@)?([^\s@/:]+):(?!\d+$)(\S*)$/.exec(text) ?? [];
  if (host !== undefined)
    return [
      { kind: 'host', text: host },
      { kind: 'setting', text: `${name}: ${host}:${path}` },
    ];
  if (!/^[^\s@/]{1,255}$/.test(text))
    // Not an address: it may be a secret, and whoever uses it refuses it.
    return [{ kind: 'host', text: `a text that is no address (SHA-256 ${sha256(text)})` }];
  const isBare = port === undefined || /:\d+$/.test(text);
  return [{ kind: 'host', text: isBare ? text : `${text}:${port}` }];
}

function describeUrl(name: string, url: URL): readonly Effect[] {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  // A token is often written as the user of a web address.
  if (/^https?:$/.test(shown.protocol) && shown.username !== '') shown.username = '***';
  for (const parameter of new Set(shown.searchParams.keys()))
    if (secretParameters.test(parameter)) shown.searchParams.set(parameter, '***');
  // Clients of databases let these parameters replace the host and the port.
  const { searchParams } = url;
  const hosts = [url.hostname, ...searchParams.getAll('host'), ...searchParams.getAll('hostaddr')];
  const ports = [url.port, ...searchParams.getAll('port')].filter((found) => found !== '');
  const suffix = ports.length === 0 ? '' : `:${ports.at(-1)}`;
  const files = ['sslcert', 'sslkey', 'sslrootcert'].flatMap((key) => searchParams.getAll(key));
  return [
    ...[...new Set(hosts)].filter(Boolean).map((host): Effect => ({
      kind: 'host',
      text: decodeHost(host) + suffix,
    })),
    ...(hosts.every((host) => host === '')
      ? [{ kind: 'host', text: `localhost${suffix}` } as const]
      : []),
    ...files.map((path): Effect => ({ kind: 'path', text: path })),
    { kind: 'setting', text: `${name}: ${shown.href}` },
  ];
}

/** URLs of databases keep the host percent-encoded. */
function decodeHost(host: string): string {
  try {
    return decodeURIComponent(host);
  } catch {
    return host;
  }
}
