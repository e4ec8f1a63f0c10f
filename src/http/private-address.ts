import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Networks that only machines of the same house reach, the machine itself, and networks that no
 * server of the internet has. Node checks `::ffff:10.0.0.1` like `10.0.0.1`.
 */
const privateNetworks = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  privateNetworks.addSubnet(network, prefix, 'ipv4');
  // Addresses of IPv6 that lead to one of IPv4: NAT64 and 6to4.
  const [high = 0, low = 0] = halves(network);
  privateNetworks.addSubnet(`64:ff9b::${high}:${low}`, 96 + prefix, 'ipv6');
  privateNetworks.addSubnet(`2002:${high}:${low}::`, 16 + prefix, 'ipv6');
}
for (const [network, prefix] of [
  ['::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  privateNetworks.addSubnet(network, prefix, 'ipv6');

/** The two halves of an address of IPv4, as IPv6 writes them. */
function halves(address: string): readonly string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return [a * 256 + b, c * 256 + d].map((half) => half.toString(16));
}

export class PrivateAddress extends Error {}

/** True for a host of a URL that is written as this machine: `localhost`, `127.0.0.1`, `[::1]`. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** Throws `PrivateAddress` if the host of a URL is written as a private address. */
export function refusePrivateHost(hostname: string): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && isPrivate(address)) throw privateAddress(hostname, address);
}

/** Looks a name up like Node does, and fails if any of its addresses is private. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const refused = addresses.find(({ address }) => isPrivate(address));
    if (refused !== undefined) return callback(privateAddress(hostname, refused.address), []);
    if (options.all === true) return callback(null, addresses);
    const [first] = addresses;
    return callback(null, first?.address ?? '', first?.family);
  });
};

/**
 * Looks a name up that a proxy is going to look up. Throws `PrivateAddress` if this machine finds a
 * private address for it, or the reason of the signal. A name that only the proxy knows is its
 * business.
 */
export async function refusePrivateName(hostname: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cleanup = new AbortController();
  signal.addEventListener('abort', () => reject(signal.reason as Error), cleanup);
  lookupPublic(hostname.replace(/^\[|\]$/g, ''), {}, (error) =>
    error instanceof PrivateAddress ? reject(error) : resolve(),
  );
  try {
    await promise;
  } finally {
    cleanup.abort();
  }
}

function isPrivate(address: string): boolean {
  return privateNetworks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function privateAddress(hostname: string, address: string): PrivateAddress {
  return new PrivateAddress(`${hostname} has the private address ${address}`);
}
