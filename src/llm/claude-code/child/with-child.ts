import { errorMessage, UserError } from '../../../lib/error.ts';
import { LlmError } from '../../port/error.ts';
import type { Launched } from './launch.ts';

/** Runs with a child and ends it; on an abort at once, and then it is gone when this throws. */
export async function used<T>(
  take: () => Promise<Launched>,
  run: (child: Launched) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let child: Launched | undefined;
  const onAbort = (): void => void child?.end();
  signal.addEventListener('abort', onAbort);
  try {
    child = await take();
    signal.throwIfAborted();
    const value = await run(child);
    void child.end();
    return value;
  } catch (error) {
    const fate = child?.fate();
    await child?.end();
    throw failureOf(error, signal, fate);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

export function failureOf(
  error: unknown,
  signal: AbortSignal,
  fate: string | undefined,
): UserError {
  if (signal.aborted) {
    return signal.reason instanceof UserError
      ? signal.reason
      : new LlmError('aborted', 'The call was stopped.', { cause: signal.reason });
  }
  if (error instanceof UserError) return error;
  if (fate !== undefined)
    return new LlmError('spawn', `Claude Code went away (${fate}).`, { cause: error });
  return new LlmError('execution', errorMessage(error), { cause: error });
}
