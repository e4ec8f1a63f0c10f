import { errorMessage, UserError } from '../../../lib/error.ts';
import { LlmError } from '../../port/error.ts';
import type { ReadyChild } from './launch.ts';

interface WithChildOptions<C, T> {
  readonly signal: AbortSignal;
  /** Gets the child after the run. */
  readonly afterwards: (child: C, value: T) => void;
}

/**
 * Runs with a child, then hands it to `afterwards`. On an abort it ends at once, and is
 * gone when this throws.
 */
export async function withChild<C extends ReadyChild, T>(
  take: () => Promise<C>,
  run: (child: C) => Promise<T>,
  { signal, afterwards }: WithChildOptions<C, T>,
): Promise<T> {
  let child: C | undefined;
  const onAbort = (): void => void child?.end();
  signal.addEventListener('abort', onAbort);
  try {
    child = await take();
    signal.throwIfAborted();
    const value = await run(child);
    afterwards(child, value);
    return value;
  } catch (error) {
    const exitReason = child?.exitReason();
    await child?.end();
    throw childFailure(error, signal, exitReason);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Why a call failed: the reason of the abort, the error itself, or the end of the child. */
export function childFailure(
  error: unknown,
  signal: AbortSignal,
  exitReason: string | undefined,
): UserError {
  if (signal.aborted) {
    const { reason } = signal;
    return reason instanceof UserError
      ? reason
      : new LlmError('aborted', 'The call was stopped.', { cause: reason });
  }
  if (error instanceof UserError) return error;
  if (exitReason !== undefined)
    return new LlmError('spawn', `Claude Code ended unexpectedly (${exitReason}).`, {
      cause: error,
    });
  return new LlmError('execution', errorMessage(error), { cause: error });
}
