import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { errorMessage, UserError } from '../../lib/error.ts';
import type { TokenStore } from './tokens.ts';

export interface ListenAddress {
  /** An IP address. */
  readonly address: string;
  /** The names that requests may have in `Host` and `Origin`; an IPv6 address in brackets. */
  readonly names: readonly string[];
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];
const wildcards = ['0.0.0.0', '::'];

interface RequestedAddress {
  readonly host: string;
  /** Further names, under which a proxy or other machines reach the server. */
  readonly allowedHosts: readonly string[];
  readonly tokens: TokenStore;
  /** True if an OpenID provider lets people in. */
  readonly hasProvider: boolean;
}

/**
 * Where to listen. Throws if others could reach the server and it has no login: on an address that
 * is not loopback, and under a name that is not.
 */
export async function resolveListenAddress(requested: RequestedAddress): Promise<ListenAddress> {
  const { host, allowedHosts, tokens, hasProvider } = requested;
  const { address } = await lookup(host).catch((error: unknown) => {
    throw new UserError('host_unknown', `--host ${host} is no address of this machine.`, {
      hint: `${errorMessage(error)}. Try --host 127.0.0.1`,
      exitCode: 2,
    });
  });
  const isLocal = isLoopback(address);
  const own = [host, address].map((name) => (isIP(name) === 6 ? `[${name}]` : name.toLowerCase()));
  const others = allowedHosts.map((name) => name.toLowerCase());
  const isPublic = !isLocal || others.some((name) => !loopbackNames.includes(name));
  const hasLogin = hasProvider || (await tokens.list()).some(({ state }) => state === 'valid');
  if (isPublic && !hasLogin) throw loginRequired(host);
  if (wildcards.includes(address) && others.length === 0) throw hostNameRequired(host);
  return { address, names: [...new Set([...(isLocal ? loopbackNames : []), ...own, ...others])] };
}

function isLoopback(address: string): boolean {
  return loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function loginRequired(host: string): UserError {
  const message = `Others could reach the server on ${host}, and it has no valid token to ask for.`;
  return new UserError('login_required', message, {
    hint: 'Make one for each person: ktx mcp token create <name>. Or leave out --host and --allow-host.',
    exitCode: 4,
  });
}

function hostNameRequired(host: string): UserError {
  const message = `On ${host} ktx does not know by which name clients reach it.`;
  return new UserError('host_name_required', message, {
    hint: 'Say it, so that no other page can speak for them: --allow-host ktx.example.com',
    exitCode: 2,
  });
}
