import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../lib/error.ts';

const firstPauseMs = 200;
const longestPauseMs = 5_000;
/** Milliseconds. A database that is started again is back within minutes. */
const longestWait = 600_000;

/** Repeats what fails because the database is away, for ten minutes: it was paid for. */
export async function patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const deadline = Date.now() + longestWait;
  for (let pause = firstPauseMs; ; pause = Math.min(longestPauseMs, pause * 2)) {
    try {
      return await work();
    } catch (error) {
      const mayPass = error instanceof UserError && error.retryable;
      if (!mayPass || Date.now() > deadline) throw error;
    }
    await sleep(pause, undefined, { signal });
  }
}

type Reaching = Readonly<Record<string, (...given: never[]) => Promise<unknown>>>;

/** The same functions, each of them patient. */
export function withPatience<Members extends Reaching>(
  members: Members,
  signal: AbortSignal,
): Members {
  const patient = Object.entries(members).map(([name, reach]) => [
    name,
    (...given: never[]) => patiently(() => reach(...given), signal),
  ]);
  // Each has the parameters and the result of the one that it calls.
  return Object.fromEntries(patient) as Members;
}
