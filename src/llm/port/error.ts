import { UserError, type ExitCode } from '../../lib/error.ts';

/**
 * The ways a call can fail, the same for every backend. The kind sets exit code, hint and retry.
 */
export type LlmErrorKind = keyof typeof errorKinds;

interface ErrorKindRule {
  readonly exitCode: ExitCode;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  /**
   * True if the same request is sent again, by one policy for every backend
   * (`governor/retries/retry-policy.ts`).
   */
  readonly repeats?: boolean;
  /** What happened, if the provider says so. Its own words follow. */
  readonly words: string;
  readonly hint: string;
}

const errorKinds = {
  auth: {
    exitCode: 4,
    retryable: false,
    words: 'The provider did not accept the credentials.',
    hint: 'Check the credentials that llm.provider in ktx.yaml names, then run: ktx status',
  },
  permission: {
    exitCode: 4,
    retryable: false,
    words: 'The account may not do this.',
    hint: 'This account may not use the model. Choose another one in llm.models, or ask the owner of the account.',
  },
  model_unavailable: {
    exitCode: 2,
    retryable: false,
    words: 'The provider has no such model for this account.',
    hint: 'In llm.models of ktx.yaml, choose a model that this account has.',
  },
  rate_limit: {
    exitCode: 1,
    retryable: true,
    repeats: true,
    words: "The model provider's limit is reached.",
    hint: 'Run the command again after the reset. Finished work is kept.',
  },
  overloaded: {
    exitCode: 1,
    retryable: true,
    repeats: true,
    words: 'The provider is overloaded or failing.',
    hint: 'The provider is overloaded or failing. Run the command again later.',
  },
  billing: {
    exitCode: 4,
    retryable: false,
    words: 'The account has no credit left.',
    hint: 'The account has no credit left, or a payment failed. Check its billing page.',
  },
  context_too_long: {
    exitCode: 1,
    retryable: false,
    words: 'The request does not fit the context of the model.',
    hint: 'In llm.models, choose a model with a longer context. In a conversation, start a new one.',
  },
  region: {
    exitCode: 2,
    retryable: false,
    words: 'The model is not available in this region.',
    hint: 'In llm.provider, choose another region (location), or in llm.models a model that this region has.',
  },
  max_tokens: {
    exitCode: 1,
    retryable: false,
    words: 'The answer was cut off at the maximum number of output tokens.',
    hint: 'In llm.models, choose a model that writes longer answers, or ask for less at once.',
  },
  refusal: {
    exitCode: 1,
    retryable: false,
    words: 'The model refused to answer.',
    hint: 'Change the text that it was asked about, or choose another model in llm.models.',
  },
  step_limit: {
    exitCode: 3,
    retryable: false,
    words: 'The model did not finish within its step limit.',
    hint: 'The model did not finish within its step limit.',
  },
  invalid_output: {
    exitCode: 1,
    retryable: true,
    words: 'The model did not answer in the requested form.',
    hint: 'The model did not answer in the requested form. A larger model may.',
  },
  execution: {
    exitCode: 1,
    retryable: false,
    words: 'The provider refused the request.',
    hint: 'To test the backend, run: ktx status',
  },
  network: {
    exitCode: 1,
    retryable: true,
    repeats: true,
    words: 'The connection to the provider failed.',
    hint: 'Check the network, the proxy and base_url, then run the command again.',
  },
  aborted: {
    exitCode: 130,
    retryable: true,
    words: 'The call was stopped.',
    hint: 'Run the command again. Finished work is kept.',
  },
  timeout: {
    exitCode: 1,
    retryable: true,
    words: 'The call took too long.',
    hint: 'Run the command again, or raise llm.timeouts in ktx.yaml.',
  },
  spawn: {
    exitCode: 1,
    retryable: true,
    words: 'The program did not run.',
    hint: 'To check the program and its folders, run: ktx doctor',
  },
  isolation: {
    exitCode: 1,
    retryable: false,
    words: 'The program did not start isolated.',
    hint: 'ktx does not run with tools or servers that it did not ask for. To see what is there, run: ktx doctor',
  },
  unknown: {
    exitCode: 1,
    retryable: false,
    words: 'The call failed.',
    hint: 'To test the backend, run: ktx status',
  },
} as const satisfies Record<string, ErrorKindRule>;

/** After these kinds no further call of the run can succeed. */
const fatalKinds: readonly LlmErrorKind[] = [
  'auth',
  'permission',
  'model_unavailable',
  'region',
  'billing',
  'isolation',
  'spawn',
  'aborted',
];

export interface LlmErrorOptions {
  /** Replaces the default hint of the kind. */
  readonly hint?: string | undefined;
  /** HTTP status of the provider. */
  readonly status?: number | undefined;
  /** When a rate limit ends. */
  readonly resetsAt?: Date | undefined;
  /** True if no further call of the run can succeed, whatever the kind. */
  readonly endsRun?: boolean | undefined;
  /** The window of a rate limit: `five_hour`, `seven_day`, `requests`, `tokens`… */
  readonly window?: string | undefined;
  readonly cause?: unknown;
}

/** A failed LLM call. Its code is `llm_<kind>`. The message never holds a credential. */
export class LlmError extends UserError {
  readonly kind: LlmErrorKind;
  readonly status: number | undefined;
  readonly resetsAt: Date | undefined;
  readonly window: string | undefined;
  readonly endsRun: boolean;

  constructor(kind: LlmErrorKind, message: string, options: LlmErrorOptions = {}) {
    const { exitCode, retryable, hint } = errorKinds[kind];
    const { status, resetsAt, window, cause } = options;
    const details = { kind, status, resets_at: resetsAt?.toISOString(), window };
    super(`llm_${kind}`, message, {
      exitCode,
      retryable,
      hint: options.hint ?? hint,
      details,
      cause,
    });
    this.kind = kind;
    this.status = status;
    this.resetsAt = resetsAt;
    this.window = window;
    this.endsRun = options.endsRun ?? fatalKinds.includes(kind);
  }
}

/** A failure that the provider reported: what happened in ktx's words, then its own. */
export function providerError(
  kind: LlmErrorKind,
  text: string,
  options: LlmErrorOptions = {},
): LlmError {
  const said = text.replaceAll(/\s+/g, ' ').trim().slice(0, 300);
  const { words } = errorKinds[kind];
  return new LlmError(kind, said === '' ? words : `${words} The provider says: ${said}`, options);
}

/** True if the same request may succeed a little later. */
export function isTransient(error: LlmError): boolean {
  const { repeats = false }: ErrorKindRule = errorKinds[error.kind];
  return repeats;
}

/** True if the same call with less in it may succeed. */
export function isContextTooLong(error: unknown): boolean {
  return error instanceof LlmError && error.kind === 'context_too_long';
}

/**
 * True if no further call of the run can succeed: the account or the machine fails, or the money is
 * spent.
 */
export function isFatalToRun(error: UserError): boolean {
  return !(error instanceof LlmError) || error.endsRun;
}
