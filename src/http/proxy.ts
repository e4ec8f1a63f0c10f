import { Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { UserError } from '../lib/error.ts';
import { isLoopback } from './private-address.ts';

/** The way through a proxy. */
export interface ProxyRoute {
  readonly agent: PlainAgent;
  /** Host and port of the proxy; never its login. */
  readonly host: string;
}

type ProxyVariables = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for an address: `https_proxy`, `http_proxy` and `no_proxy`,
 * in small or in capital letters, as curl reads them. Undefined: none. This machine is never asked
 * through a proxy, for which it would be another one. Throws if ktx does not know such a proxy:
 * Node would go past it.
 */
export function proxyRoute(
  url: URL,
  variables: ProxyVariables = process.env,
): ProxyRoute | undefined {
  const isTls = url.protocol === 'https:';
  const name = isTls ? 'https_proxy' : 'http_proxy';
  const proxy = read(name, variables);
  if (proxy === '' || isLoopback(url.hostname)) return undefined;
  if (isExempt(url, read('no_proxy', variables))) return undefined;
  const { host } = parseProxy(proxy, name);
  return { agent: agentFor(proxy, isTls), host };
}

function read(name: string, variables: ProxyVariables): string {
  return (variables[name] || variables[name.toUpperCase()] || '').trim();
}

function parseProxy(proxy: string, name: string): URL {
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== '') return url;
  throw new UserError(
    'proxy_invalid',
    `${name.toUpperCase()} names no proxy that ktx can use. Nothing was asked.`,
    {
      hint: 'Write http://host:port or https://host:port, with a login as http://user:password@host:port.',
      exitCode: 2,
    },
  );
}

/** True if `no_proxy` names the host: `*`, `example.com` with all below it, or one with a port. */
function isExempt({ hostname, port, protocol }: URL, list: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const [, name = '', wantedPort = ownPort] =
        /^\[?(.*?)\]?(?::(\d{1,5}))?$/.exec(isAddress6(entry) ? `[${entry}]` : entry) ?? [];
      const domain = name.replace(/^\*?\./, '');
      if (name === '' || wantedPort !== ownPort) return false;
      return name === '*' || host === domain || host.endsWith(`.${domain}`);
    });
}

/** An address of IPv6 without brackets has no port. */
function isAddress6(entry: string): boolean {
  return !entry.startsWith('[') && entry.split(':').length > 2;
}

/** How long a proxy may take to connect, in milliseconds: no signal ends that. */
const longestTunnel = 20_000;
/** Connections to a proxy are used again. */
const agents = new Map<string, PlainAgent>();

function agentFor(proxy: string, isTls: boolean): PlainAgent {
  const key = `${isTls} ${proxy}`;
  const known = agents.get(key);
  if (known !== undefined) return known;
  const proxyEnv = isTls ? { HTTPS_PROXY: proxy } : { HTTP_PROXY: proxy };
  const options = { keepAlive: true, timeout: longestTunnel, proxyEnv };
  const agent = isTls ? new TlsAgent(options) : new PlainAgent(options);
  agents.set(key, agent);
  return agent;
}
