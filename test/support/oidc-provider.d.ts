/** What the tests use of a package that has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface ProviderOptions {
    readonly extraTokenClaims: (
      context: unknown,
      token: { readonly clientId?: string },
    ) => object | undefined;
    readonly [option: string]: unknown;
  }

  export class Provider {
    constructor(issuer: string, options: ProviderOptions);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  }
}
