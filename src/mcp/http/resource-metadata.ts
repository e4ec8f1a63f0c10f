import type { AuthConfig } from '../../project/open/serve-config.ts';

const wellKnown = '/.well-known/oauth-protected-resource';

/** Where RFC 9728 has the metadata of a resource: between its host and its path. */
export function resourceMetadataUrl(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${wellKnown}${pathname === '/' ? '' : pathname}`;
}

/** True for the path of the metadata, with the path of the resource or without. */
export function isMetadataPath(path: string): boolean {
  return path === wellKnown || path === `${wellKnown}/mcp`;
}

/** Where clients get a token for this server (RFC 9728). */
export function resourceMetadata({ resource, issuer, scopes }: AuthConfig) {
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: Object.values(scopes),
    bearer_methods_supported: ['header'],
    resource_name: 'ktx',
  };
}
