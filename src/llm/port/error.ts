import { UserError, type ExitCode } from '../../lib/error.ts';

/** The ways a call can fail, the same for every backend. The kind sets exit code, hint and retry. */
export type LlmErrorKind = keyof typeof errorKinds;

interface ErrorKindRule {
  readonly exitCode: ExitCode;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  readonly hint: string;
}

const errorKinds = {
  auth: {
    exitCode: 4,
    retryable: false,
    hint: 'Check the credentials that llm.provider in ktx.yaml names, then run: ktx status',
  },
  permission: {
    exitCode: 4,
    retryable: false,
    hint: 'This account may not use the model. Choose another one in llm.models, or ask the owner of the account.',
  },
  model_unavailable: {
    exitCode: 2,
    retryable: false,
    hint: 'In llm.models of ktx.yaml, choose a model that this account has.',
  },
  rate_limit: {
    exitCode: 1,
    retryable: true,
    hint: 'Run the command again after the reset. Finished work is kept.',
  },
  overloaded: {
    exitCode: 1,
    retryable: true,
    hint: 'The provider is overloaded or failing. Run the command again later.',
  },
  billing: {
    exitCode: 4,
    retryable: false,
    hint: 'The account has no credit left, or a payment failed. Check its billing page.',
  },
  context_too_long: {
    exitCode: 1,
    retryable: false,
    hint: 'In llm.models, choose a model with a longer context. In a conversation, start a new one.',
  },
  step_limit: {
    exitCode: 3,
    retryable: false,
    hint: 'The model did not finish within its step limit.',
  },
  invalid_output: {
    exitCode: 1,
    retryable: true,
    hint: 'The model did not answer in the requested form. A larger model may.',
  },
  execution: { exitCode: 1, retryable: false, hint: 'To test the backend, run: ktx status' },
  network: {
    exitCode: 1,
    retryable: true,
    hint: 'Check the network, the proxy and base_url, then run the command again.',
  },
  aborted: {
    exitCode: 130,
    retryable: true,
    hint: 'Run the command again. Finished work is kept.',
  },
  timeout: {
    exitCode: 1,
    retryable: true,
    hint: 'Run the command again, or raise llm.timeouts in ktx.yaml.',
  },
  spawn: {
    exitCode: 1,
    retryable: true,
    hint: 'To check the program and its folders, run: ktx doctor',
  },
  isolation: {
    exitCode: 1,
    retryable: false,
    hint: 'ktx does not run with tools or servers that it did not ask for. To see what is there, run: ktx doctor',
  },
  unknown: { exitCode: 1, retryable: false, hint: 'To test the backend, run: ktx status' },
} as const satisfies Record<string, ErrorKindRule>;

export interface LlmErrorOptions {
  /** Replaces the default hint of the kind. */
  readonly hint?: string | undefined;
  /** HTTP status of the provider. */
  readonly status?: number | undefined;
  /** When a rate limit ends. */
  readonly resetsAt?: Date | undefined;
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
  }
}

/** The answer, not the prompt, reached the end of the context. */
export function fullContextError(): LlmError {
  return new LlmError('context_too_long', 'The answer filled up the context of the model.');
}

const kindByStatus: Readonly<Record<number, LlmErrorKind>> = {
  401: 'auth',
  402: 'billing',
  403: 'permission',
  404: 'model_unavailable',
  408: 'overloaded',
  413: 'context_too_long',
  429: 'rate_limit',
};

/** The error kind of an HTTP status of 400 or more, if the response says nothing more precise. */
export function errorKindOfStatus(status: number): LlmErrorKind {
  return status >= 500 ? 'overloaded' : (kindByStatus[status] ?? 'execution');
}

/** True if the same call with less in it may succeed. */
export function isContextTooLong(error: unknown): boolean {
  return error instanceof LlmError && error.kind === 'context_too_long';
}

/** After these kinds no further call of the run can succeed. */
const fatalKinds: readonly LlmErrorKind[] = [
  'auth',
  'permission',
  'model_unavailable',
  'rate_limit',
  'billing',
  'isolation',
  'spawn',
  'network',
  'aborted',
];

/** True if no further call of the run can succeed: the account or the network fails, or the money is spent. */
export function isFatalToRun(error: UserError): boolean {
  return !(error instanceof LlmError) || fatalKinds.includes(error.kind);
}
