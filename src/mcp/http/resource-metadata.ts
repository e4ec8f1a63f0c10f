import type { AuthConfig } from '../../project/open/serve-config.ts';

const wellKnown = '/.well-known/oauth-protected-resource';

/** Where RFC 9728 has the metadata of a resource: between its host and its path. */
export function resourceMetadataUrl(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${wellKnown}${pathname === '/' ? '' : pathname}`;
}

/** Which authorization server ktx itself is: the origin of the resource. */
export function brokerIssuer(resource: string): string {
  return new URL(resource).origin;
}

/** True for the path of the metadata, with the path of the resource or without. */
export function isMetadataPath(path: string): boolean {
  return path === wellKnown || path === `${wellKnown}/mcp`;
}

/** Where clients get a token for this server (RFC 9728). */
export function resourceMetadata({ mode, resource, issuer, scopes }: AuthConfig) {
  return {
    resource,
    authorization_servers: [mode === 'broker' ? brokerIssuer(resource) : issuer],
    scopes_supported: Object.values(scopes),
    bearer_methods_supported: ['header'],
    resource_name: 'ktx',
  };
}
