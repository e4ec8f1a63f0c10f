import { setTimeout as sleep } from 'node:timers/promises';
import type { Query, SDKMessage } from '@anthropic-ai/claude-agent-sdk';

/**
 * The messages of one child, one after the other. Not `for await`: leaving that loop would wait for
 * the end of the child.
 */
export class MessageSource {
  readonly #query: Query;
  #next: ReturnType<Query['next']> | undefined;

  constructor(query: Query) {
    this.#query = query;
  }

  /**
   * The next message; `ended` after the last one, `late` if it does not come within `patienceMs`.
   */
  async read(patienceMs: number | undefined): Promise<SDKMessage | 'ended' | 'late'> {
    this.#next ??= this.#ask();
    const next = patienceMs === undefined ? await this.#next : await inTime(this.#next, patienceMs);
    if (next === undefined) return 'late';
    this.#next = undefined;
    return next.done === true ? 'ended' : next.value;
  }

  #ask(): ReturnType<Query['next']> {
    const next = this.#query.next();
    // Nobody may wait for it any more when the child is ended.
    next.catch(() => undefined);
    return next;
  }
}

/** It answers at once, unless it is gone. */
const interruptPatienceMs = 2000;

/** Tells the program to stop what it does. A program that is gone does nothing any more. */
export async function interruptProgram(query: Query): Promise<void> {
  await inTime(
    query.interrupt().catch(() => undefined),
    interruptPatienceMs,
  );
}

async function inTime<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const stop = new AbortController();
  const late = sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop.abort();
  }
}
