import type { FailureName, ModelCall, Reply } from './model-script.ts';

/** One protocol: how to read a request, how to write an answer. */
export interface Wire {
  read(
    request: WireRequest,
  ): Omit<ModelCall, 'n' | 'protocol' | 'gone' | 'path' | 'headers' | 'body'>;
  reply(request: WireRequest, answer: Reply): WireAnswer;
  failure(name: FailureName): { status: number; body: unknown };
  /** The event that reports the failure inside a stream. */
  streamedFailure(name: FailureName): string;
}

export interface WireRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export type WireAnswer =
  | { readonly kind: 'json'; readonly body: unknown }
  | { readonly kind: 'events'; readonly events: readonly string[] };

/** Text comes in pieces. */
export function halves(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
