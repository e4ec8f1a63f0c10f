/** What ktx sends to an engine process. */
export type EngineMessage =
  | { readonly kind: 'open'; readonly id: number; readonly setup: unknown; readonly memory: number }
  | { readonly kind: 'run'; readonly id: number; readonly request: unknown }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number };

/**
 * What an engine process answers: that it has begun, any number of batches, and then a value, with
 * the last batch if there is one, or an error.
 */
export type EngineReply =
  | { readonly kind: 'started'; readonly id: number }
  | { readonly kind: 'batch'; readonly id: number; readonly batch: unknown }
  | {
      readonly kind: 'value';
      readonly id: number;
      readonly value: unknown;
      readonly batch?: unknown;
    }
  | { readonly kind: 'error'; readonly id: number; readonly error: SentError };

/**
 * An error as it crosses the border of the process: a `UserError` has a code, an engine's error has
 * none.
 */
export interface SentError {
  readonly message: string;
  readonly code?: string | undefined;
  readonly hint?: string | undefined;
  readonly details?: unknown;
}

/** What one call returned. */
export interface EngineAnswer {
  readonly batches: readonly unknown[];
  readonly value: unknown;
}
