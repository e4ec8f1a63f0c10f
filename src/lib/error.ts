export type ExitCode = 0 | 1 | 2 | 3 | 4 | 130;

export interface UserErrorOptions {
  /** What to do or type next. */
  readonly hint?: string | undefined;
  /**
   * Exit code of the process: 1 failed (default), 2 usage or configuration, 3 partial, 4
   * authentication or missing approval, 130 interrupted.
   */
  readonly exitCode?: ExitCode;
  /** True if the same call may succeed later (network, lock, timeout). */
  readonly retryable?: boolean;
  /** Machine-readable extras for `--json`: choices, locations. Never a secret. */
  readonly details?: unknown;
  readonly cause?: unknown;
}

/**
 * An error that a person can fix: a permanent code, what happened and where, and what to do next.
 * Any other error that is thrown is a bug.
 */
export class UserError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;
  readonly retryable: boolean;
  readonly details: unknown;

  constructor(code: string, message: string, options: UserErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'UserError';
    this.code = code;
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? 1;
    this.retryable = options.retryable ?? false;
    this.details = options.details;
  }
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
