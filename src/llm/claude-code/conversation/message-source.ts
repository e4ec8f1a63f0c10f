import { setTimeout as sleep } from 'node:timers/promises';
import type { Query, SDKMessage } from '@anthropic-ai/claude-agent-sdk';

/** The last messages of a child may arrive after its end. */
const lastMessagesMs = 1000;

/**
 * The messages of one child, one after the other. Not `for await`: leaving that loop would wait for
 * the end of the child.
 */
export class MessageSource {
  readonly #query: Query;
  /** Resolves to `gone` when nothing more can come. */
  readonly #gone: Promise<'gone'>;
  #next: ReturnType<Query['next']> | undefined;

  constructor(query: Query, childGone: Promise<void>) {
    this.#query = query;
    this.#gone = childGone.then(() => sleep(lastMessagesMs, 'gone', { ref: false }));
  }

  /**
   * The next message; `ended` after the last one, `late` if it does not come within `patienceMs`,
   * `gone` if the child ended and its stream did not: older SDKs wait for ever.
   */
  async read(patienceMs: number | undefined): Promise<SDKMessage | 'ended' | 'late' | 'gone'> {
    this.#next ??= this.#ask();
    const first = Promise.race([this.#next, this.#gone]);
    const next = patienceMs === undefined ? await first : await inTime(first, patienceMs);
    if (next === undefined) return 'late';
    if (next === 'gone') return next;
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
