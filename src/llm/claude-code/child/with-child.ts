import { errorMessage, UserError } from '../../../lib/error.ts';
import { LlmError } from '../../port/error.ts';
import type { ReadyChild } from './launch.ts';

/** Runs with a child, then ends it. On an abort it ends at once, and is gone when this throws. */
export async function withChild<T>(
  take: () => Promise<ReadyChild>,
  run: (child: ReadyChild) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let child: ReadyChild | undefined;
  const onAbort = (): void => void child?.end();
  signal.addEventListener('abort', onAbort);
  try {
    child = await take();
    signal.throwIfAborted();
    const value = await run(child);
    void child.end();
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
