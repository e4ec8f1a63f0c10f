import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { UserError } from '../lib/error.ts';
import type { ParserProgress, ParserReply, ParserRequest, ParserTask } from './parser-thread.ts';
import type { OpenSource } from './registry.ts';
import type { Extraction, Item } from './source.ts';

interface ParseLimits {
  readonly signal: AbortSignal;
  /** Whether the thread ends with the task: what it grew by would stay as long as it idles. */
  readonly isLarge?: boolean;
  /** How long one file may take, in milliseconds. */
  readonly longest?: number | undefined;
}

/** Thrown when a file took too long or too much memory. */
export class SlowFile extends Error {
  /** The number of the item in the list, from 0; undefined before the first. */
  readonly index: number | undefined;
  constructor(reason: string, index?: number) {
    super(reason);
    this.index = index;
  }
}

/**
 * In characters. A shorter text is parsed at once: even a reader with quadratic time needs less
 * than a second for it.
 */
const longestInline = 32_000;
/** In milliseconds. The largest files of real projects take a tenth of a second. */
const longestParse = 30_000;
/** In characters, of all items of a task: a thread that had more of them is not kept. */
const mostKept = 1_000_000;
/** Likewise in items: what is read in each can be larger than its text. */
const mostKeptItems = 1000;
/** How many items or extractions are in one message at most. */
const messageSize = 500;
/** In MB. */
const mostMemory = 3000;
/** In MB: parsing leaves much garbage, and what is free to pile up stays in memory. */
const mostGarbage = 6;

/** True if the text is so short that no thread is needed to parse it. */
export function isParsedInline({ length }: { readonly length: number }): boolean {
  return length <= longestInline;
}

/**
 * `extract` of a source in a thread that the signal, the time limit of a file and the limit of
 * memory end.
 */
export async function extractInThread(
  source: OpenSource,
  items: readonly Item[],
  { context, ...limits }: ParseLimits & { readonly context: Parameters<OpenSource['extract']>[1] },
): Promise<readonly Extraction[]> {
  limits.signal.throwIfAborted();
  const length = items.reduce((sum, { body }) => sum + body.length, 0);
  if (source.inThread === undefined || isParsedInline({ length })) {
    await source.prepare();
    return source.extract(items, context);
  }
  const { config } = source.inThread;
  const task: ParserTask = { kind: 'extract', config, items, context, messageSize };
  const isLarge = length > mostKept || items.length > mostKeptItems;
  return (await parseInThread(task, { ...limits, isLarge })) as readonly Extraction[];
}

let thread: Worker | undefined;
/** A server lives long, and the thread has read large files. In milliseconds. */
const longestIdle = 30_000;
let idleTimer: NodeJS.Timeout | undefined;
let lastTask: Promise<unknown> = Promise.resolve();

/**
 * Runs a task in the parser's thread, which starts with the first task. Tasks wait for each other.
 * Throws `SlowFile`, the reason of the signal, or what the task throws.
 */
export function parseInThread(task: ParserTask, limits: ParseLimits): Promise<unknown> {
  const result = lastTask.then(() => runTask(task, limits));
  // The promise keeps no value: it lives as long as the process.
  lastTask = result.then(
    () => undefined,
    () => undefined,
  );
  return result;
}

async function runTask(task: ParserTask, limits: ParseLimits): Promise<unknown> {
  limits.signal.throwIfAborted();
  const progress: ParserProgress = new Int32Array(new SharedArrayBuffer(8));
  const worker = (thread ??= startThread());
  clearTimeout(idleTimer);
  worker.ref();
  const reply = await exchangeParts(worker, { task, progress }, limits).catch((error: unknown) => {
    void endThread(worker);
    throw error;
  });
  worker.unref();
  if (limits.isLarge === true) await endThread(worker);
  else idleTimer = setTimeout(() => void endThread(worker), longestIdle).unref();
  if (reply.failure === undefined) return reply.value;
  const { message, code, hint } = reply.failure;
  throw code === undefined ? new Error(message) : new UserError(code, message, { hint });
}

async function endThread(worker: Worker): Promise<void> {
  if (thread === worker) thread = undefined;
  await worker.terminate();
}

function startThread(): Worker {
  const entry = new URL(`parser-thread${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(entry, {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: mostMemory, maxYoungGenerationSizeMb: mostGarbage },
  });
  // While no task runs, nobody else listens.
  worker.on('error', () => undefined);
  worker.on('exit', () => void endThread(worker));
  return worker;
}

/** One task and its reply, in as many messages as they take. */
async function exchangeParts(
  worker: Worker,
  { task, progress }: ParserRequest,
  limits: ParseLimits,
): Promise<ParserReply> {
  if (task.kind !== 'extract') return exchange(worker, { task, progress }, limits);
  let rest = task.items;
  for (; rest.length > messageSize; rest = rest.slice(messageSize)) {
    const part: ParserTask = { kind: 'items', items: rest.slice(0, messageSize) };
    await exchange(worker, { task: part, progress }, limits);
  }
  let reply = await exchange(worker, { task: { ...task, items: rest }, progress }, limits);
  const values: unknown[] = [];
  for (;;) {
    if (reply.failure !== undefined) return reply;
    values.push(...(reply.value as readonly unknown[]));
    if (reply.hasMore !== true) return { value: values };
    reply = await exchange(worker, { task: { kind: 'more', messageSize }, progress }, limits);
  }
}

/** How often the progress is looked at, in milliseconds. */
const tick = 100;

async function exchange(
  worker: Worker,
  request: ParserRequest,
  { signal, longest = longestParse }: ParseLimits,
): Promise<ParserReply> {
  const { progress } = request;
  const slowFile = (reason: string) => {
    const item = Atomics.load(progress, 0);
    return new SlowFile(reason, item === 0 ? undefined : item - 1);
  };
  const cleanup = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<ParserReply>();
  const on = (event: string, listener: (value: unknown) => void) => {
    worker.once(event, listener);
    cleanup.signal.addEventListener('abort', () => worker.off(event, listener));
  };
  on('message', (reply) => resolve(reply as ParserReply));
  on('error', (error) => {
    const isFull =
      error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    reject(isFull ? slowFile('it needs too much memory') : error);
  });
  on('exit', () => reject(new Error('the thread that parses files ended')));
  signal.addEventListener('abort', () => reject(signal.reason as Error), cleanup);
  // Ticks are counted instead of time, so that a computer that sleeps does not use up the limit.
  // They begin with the task.
  let [ticks, begun] = [0, 0];
  const timer = setInterval(() => {
    const now = Atomics.load(progress, 1);
    ticks = now === begun && now > 0 ? ticks + 1 : 0;
    begun = now;
    if (ticks * tick >= longest)
      reject(slowFile(`it takes longer than ${longest / 1000} seconds to parse`));
  }, tick);
  try {
    worker.postMessage(request, []);
    return await promise;
  } finally {
    clearInterval(timer);
    cleanup.abort();
  }
}
