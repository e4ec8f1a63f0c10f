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

/** Primary result codes of SQLite for a disk that is full, broken or read-only. */
const diskCodes: ReadonlySet<number> = new Set([8, 10, 13, 14]);

/**
 * What the operating system refused, or a disk that takes nothing more under one of ktx's own
 * databases, as an error that a person can fix; undefined for any other error.
 */
export function toSystemError(error: unknown): UserError | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('syscall' in error)
    return new UserError('system_error', error.message, {
      hint: 'check that the path exists, its permissions, and the free disk space',
    });
  const isDisk =
    'errcode' in error && typeof error.errcode === 'number' && diskCodes.has(error.errcode & 0xff);
  if (!isDisk) return undefined;
  return new UserError('system_error', `A file of ktx cannot be written: ${error.message}.`, {
    hint: 'check the free disk space and the permissions of .ktx, then run it again',
  });
}
