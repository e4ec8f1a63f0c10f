import { UserError, type ExitCode } from '../../lib/error.ts';

/** Every way in which a call fails, whatever the backend; exit codes, hints and retries hang off it. */
export type LlmErrorKind = keyof typeof kinds;

interface KindRule {
  readonly exitCode: ExitCode;
  /** True where the same call may succeed later. */
  readonly retryable: boolean;
  readonly hint: string;
}

const kinds = {
  auth: {
    exitCode: 4,
    retryable: false,
    hint: 'Check the credentials that llm.provider of ktx.yaml names, then: ktx status',
  },
  permission: {
    exitCode: 4,
    retryable: false,
    hint: 'This account may not use the model: choose another in llm.models, or ask its owner.',
  },
  model_unavailable: {
    exitCode: 2,
    retryable: false,
    hint: 'Choose a model that this account has, in llm.models of ktx.yaml.',
  },
  rate_limit: {
    exitCode: 1,
    retryable: true,
    hint: 'Run the command again after the reset; what is finished is kept.',
  },
  overloaded: {
    exitCode: 1,
    retryable: true,
    hint: 'The provider is overloaded or failing; run the command again later.',
  },
  billing: {
    exitCode: 4,
    retryable: false,
    hint: 'The account has no credit left, or its payment failed: see its billing page.',
  },
  context_too_long: {
    exitCode: 1,
    retryable: false,
    hint: 'Choose a model with a longer context in llm.models.',
  },
  step_limit: { exitCode: 3, retryable: false, hint: 'The model did not finish within its steps.' },
  invalid_output: {
    exitCode: 1,
    retryable: true,
    hint: 'The model did not answer in the form asked for; a larger model may.',
  },
  execution: { exitCode: 1, retryable: false, hint: 'ktx status probes the backend.' },
  network: {
    exitCode: 1,
    retryable: true,
    hint: 'Check the network, proxy and base_url, then run the command again.',
  },
  aborted: {
    exitCode: 130,
    retryable: true,
    hint: 'Run the command again; what is finished is kept.',
  },
  timeout: {
    exitCode: 1,
    retryable: true,
    hint: 'Run the command again, or raise llm.timeouts in ktx.yaml.',
  },
  spawn: {
    exitCode: 1,
    retryable: true,
    hint: 'ktx doctor checks the Claude Code program and its folders.',
  },
  isolation: {
    exitCode: 1,
    retryable: false,
    hint: 'ktx refuses to run with anything that it did not ask for; ktx doctor shows what is there.',
  },
  unknown: { exitCode: 1, retryable: false, hint: 'ktx status probes the backend.' },
} as const satisfies Record<string, KindRule>;

export interface LlmErrorOptions {
  /** In place of the hint of the kind. */
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
    const { exitCode, retryable, hint } = kinds[kind];
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

const kindByStatus: Readonly<Record<number, LlmErrorKind>> = {
  401: 'auth',
  402: 'billing',
  403: 'permission',
  404: 'model_unavailable',
  408: 'overloaded',
  413: 'context_too_long',
  429: 'rate_limit',
};

/** What an HTTP status of a provider means, from 400 on, where nothing says it better. */
export function kindOfStatus(status: number): LlmErrorKind {
  return status >= 500 ? 'overloaded' : (kindByStatus[status] ?? 'execution');
}

/** Kinds after which no further call of the run can succeed. */
const hopeless: readonly LlmErrorKind[] = [
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

/** Whether it is of no use to ask on after this: the account, the limit or the way there is gone, the money is spent. */
export function isFatalToRun(error: UserError): boolean {
  return !(error instanceof LlmError) || hopeless.includes(error.kind);
}
