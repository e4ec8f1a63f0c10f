import { errorMessage, UserError } from '../../lib/error.ts';

/** The same failure with another next step. */
export function withHint(
  { code, message, exitCode, retryable, details, cause }: UserError,
  hint: string | undefined,
): UserError {
  return new UserError(code, message, { hint, exitCode, retryable, details, cause });
}

/** The command line says something that cannot be. */
export function usage(message: string, hint: string): UserError {
  return new UserError('usage', message, { hint, exitCode: 2 });
}

/** Whatever was thrown, as what a person is told. */
export function failureOf(error: unknown): UserError {
  if (error instanceof UserError) return error;
  if (error instanceof Error && 'syscall' in error) {
    return new UserError('system_error', error.message, {
      hint: 'check that place, its permissions, and the space on the disk',
    });
  }
  const hint = 'run it again with --debug for the stack, and report it';
  return new UserError('internal', `This is a defect in ktx: ${errorMessage(error)}`, { hint });
}
