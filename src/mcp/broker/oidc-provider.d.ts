/** What ktx uses of a package that has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface ProviderOptions {
    readonly extraTokenClaims?: (
      context: unknown,
      token: { readonly clientId?: string },
    ) => object | undefined;
    readonly [option: string]: unknown;
  }

  interface ProviderClient {
    readonly clientId: string;
    readonly clientName?: string;
    readonly redirectUris: readonly string[];
  }

  interface ProviderInteraction {
    readonly uid: string;
    readonly prompt: {
      readonly name: string;
      readonly details: {
        readonly missingOIDCScope?: readonly string[];
        readonly missingResourceScopes?: Readonly<Record<string, readonly string[]>>;
      };
    };
    readonly params: Readonly<Record<string, unknown>>;
    readonly session?: { readonly accountId?: string };
    readonly returnTo: string;
    result?: object;
    persist(): Promise<string>;
  }

  interface ProviderGrant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  interface ProviderToken {
    readonly accountId?: string;
    readonly clientId?: string;
    readonly grantId?: string;
    readonly aud?: string | readonly string[];
    readonly scope?: string;
  }

  interface NewProviderToken {
    readonly accountId: string;
    readonly client: { readonly clientId: string };
    readonly grantId: string;
    readonly aud: string;
    readonly scope: string;
    /** Seconds. */
    readonly expiresIn: number;
  }

  interface ProviderContext {
    readonly req: IncomingMessage;
    readonly oidc?: {
      readonly client?: ProviderClient;
      readonly result?: { readonly consent?: { readonly grantId?: string } };
    };
    type: string;
    body: unknown;
    set(name: string, value: string): void;
  }

  export class Provider {
    constructor(issuer: string, options: ProviderOptions);
    proxy: boolean;
    silent: boolean;
    readonly AccessToken: {
      new (start: NewProviderToken): { save(): Promise<string> };
      find(value: string): Promise<ProviderToken | undefined>;
      /** Removes the grant with all its tokens. */
      revokeByGrantId(grantId: string): Promise<void>;
    };
    readonly Client: { find(id: string): Promise<ProviderClient | undefined> };
    readonly Interaction: { find(uid: string): Promise<ProviderInteraction | undefined> };
    readonly Grant: {
      new (start: { readonly accountId: string; readonly clientId: string }): ProviderGrant;
      find(id: string): Promise<ProviderGrant | undefined>;
    };
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<ProviderInteraction>;
    /** Returns where the browser goes next. */
    interactionResult(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<string>;
    on(event: string, listener: (context: ProviderContext, error: ProviderError) => void): void;
  }

  interface ProviderError extends Error {
    readonly error?: string;
    readonly error_description?: string;
    readonly error_detail?: string;
  }

  export const errors: {
    readonly InvalidClientMetadata: new (description: string) => ProviderError;
    readonly InvalidGrant: new (detail: string) => ProviderError;
    readonly InvalidTarget: new () => ProviderError;
  };
}
