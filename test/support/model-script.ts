/**
 * A scripted model: what a test reads of a request, and what it answers, the same for every
 * protocol.
 */
export type Script = (call: ModelCall) => Answer | Promise<Answer>;

export type Protocol = 'anthropic' | 'openai' | 'gateway';

/** One request to the model. */
export interface ModelCall {
  readonly protocol: Protocol;
  /** From 1, counted for each script; a repeated request counts again. */
  readonly n: number;
  readonly model: string;
  /** All system text. */
  readonly system: string;
  /** Text of every message, in order. */
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  /** Tool names as the request has them. */
  readonly tools: readonly string[];
  /** What the last turn's tool calls answered. */
  readonly results: readonly ToolResult[];
  /** True where the request asks for an answer in a JSON schema. */
  readonly wantsObject: boolean;
  /**
   * True where the object was given in an earlier turn and accepted: Claude Code asks once more
   * after that.
   */
  readonly objectTaken: boolean;
  readonly path: string;
  /** Aborted when the client goes away before its answer is complete. */
  readonly gone: AbortSignal;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ToolResult {
  readonly id: string;
  readonly text: string;
  /** Undefined where the protocol does not say. */
  readonly isError: boolean | undefined;
}

export type Answer = Reply | Failure | RawFailure | Drop;

export interface Reply {
  readonly kind: 'reply';
  readonly blocks: readonly Block[];
  /** Default: `tool_use` where a tool is called, else `end_turn`. */
  readonly stop?:
    | 'end_turn'
    | 'stop_sequence'
    | 'tool_use'
    | 'max_tokens'
    | 'pause_turn'
    | 'refusal'
    | 'model_context_window_exceeded'
    | undefined;
  readonly usage?: Partial<Usage> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Never ends: stops after the headers, or in the middle of the last block. */
  readonly hang?: 'at-start' | 'mid-stream' | undefined;
  /** Pause before every event of the stream. */
  readonly dripMs?: number | undefined;
  /** Breaks the connection in the middle of the last block. */
  readonly cut?: boolean | undefined;
  readonly fault?: StreamFault | undefined;
}

/** What goes wrong in a stream. */
export interface StreamFault {
  /** How many of its events arrive before. */
  readonly after: number;
  /**
   * The connection breaks, the response ends as if it were complete, a line is not JSON (the rest
   * follows it), or the provider reports a failure in place of the rest.
   */
  readonly what: 'cut' | 'end' | 'broken-line' | FailureName;
}

/**
 * A tool is named without prefix; `json` replaces its input by raw text, which may be malformed.
 */
export type Block =
  | { readonly text: string }
  | { readonly thinking: string }
  | {
      readonly tool: string;
      readonly input?: unknown;
      readonly json?: string;
      readonly id?: string;
    }
  | { readonly object: unknown };

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** What the script's replies use where they do not say. */
export const defaultUsage: Usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };

export const failureNames = [
  'auth',
  'permission',
  'no-model',
  'bad-request',
  'credit-low',
  'billing',
  'too-long',
  'too-large',
  'rate-limit',
  'server-error',
  'overloaded',
] as const;
export type FailureName = (typeof failureNames)[number];

export interface Failure {
  readonly kind: 'failure';
  readonly name: FailureName;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A failure in the very words of one provider, whatever the protocol. */
export interface RawFailure {
  readonly kind: 'raw-failure';
  readonly status: number;
  /** Sent as JSON, or as it is if it is text. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The connection breaks before there is any answer. */
export interface Drop {
  readonly kind: 'drop';
}

export function say(text: string, options: Omit<Partial<Reply>, 'kind' | 'blocks'> = {}): Reply {
  return reply([{ text }], options);
}

export function use(
  tool: string,
  input: unknown,
  options: Omit<Partial<Reply>, 'kind' | 'blocks'> = {},
): Reply {
  return reply([{ tool, input }], options);
}

export function give(
  object: unknown,
  options: Omit<Partial<Reply>, 'kind' | 'blocks'> = {},
): Reply {
  return reply([{ object }], options);
}

export function reply(
  blocks: readonly Block[],
  options: Omit<Partial<Reply>, 'kind' | 'blocks'> = {},
): Reply {
  return { kind: 'reply', blocks, ...options };
}

export function fail(name: FailureName, headers?: Readonly<Record<string, string>>): Failure {
  return { kind: 'failure', name, headers };
}

export function failAs(
  status: number,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
): RawFailure {
  return { kind: 'raw-failure', status, body, headers };
}

export const drop: Drop = { kind: 'drop' };

/**
 * One answer a request, in order. A request too many is the test's failure: it is answered as a bad
 * request.
 */
export function inTurn(...answers: readonly Answer[]): Script {
  return ({ n, objectTaken }) =>
    answers[n - 1] ?? (objectTaken ? say('Done.') : fail('bad-request'));
}

/** What a subscription's 429 carries. */
export function subscriptionLimit(
  resetsAt: Date,
  window: 'five_hour' | 'seven_day' = 'five_hour',
): Record<string, string> {
  const epoch = String(Math.floor(resetsAt.getTime() / 1000));
  const short = window === 'five_hour' ? '5h' : '7d';
  return {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': epoch,
    'anthropic-ratelimit-unified-representative-claim': window,
    [`anthropic-ratelimit-unified-${short}-status`]: 'rejected',
    [`anthropic-ratelimit-unified-${short}-reset`]: epoch,
    [`anthropic-ratelimit-unified-${short}-utilization`]: '1.0',
  };
}
