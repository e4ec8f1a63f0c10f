import { parentPort } from 'node:worker_threads';
import { errorMessage, UserError } from '../lib/error.ts';
import { readLocatedYaml } from '../lib/yaml/located-yaml.ts';
import type { SourceConfig } from './config.ts';
import { type ArtifactName, reduceArtifact } from './dbt/artifacts/reduce-artifact.ts';
import { openNotes, openSource } from './registry.ts';
import type { ExtractContext, Extraction, Item } from './source.ts';

/** What the thread can do. Everything in it can be copied to another thread. */
export type ParserTask =
  | {
      readonly kind: 'extract';
      /** Undefined for notes. */
      readonly config: SourceConfig | undefined;
      /** The last of them; those before came with `items`. */
      readonly items: readonly Item[];
      readonly context: Omit<ExtractContext<unknown>, 'config'>;
      /** How many extractions are in one reply at most. */
      readonly messageSize: number;
    }
  /** Items of the next task: in one message, thousands of them would be in memory once more. */
  | { readonly kind: 'items'; readonly items: readonly Item[] }
  /** Asks for more of a value that has more parts. */
  | { readonly kind: 'more'; readonly messageSize: number }
  | { readonly kind: 'yaml'; readonly text: string }
  | { readonly kind: 'artifact'; readonly name: ArtifactName; readonly bytes: Uint8Array };

/**
 * Two cells: the number of the item that is being read, from 1; and a counter of tasks and items
 * that were begun.
 */
export type ParserProgress = Int32Array<SharedArrayBuffer>;

export interface ParserRequest {
  readonly task: ParserTask;
  readonly progress: ParserProgress;
}

export interface ParserReply {
  readonly value?: unknown;
  /** True if the value is the first part of a list. */
  readonly hasMore?: boolean;
  /** Set if the task failed; with a code if a person can do something about it. */
  readonly failure?: { readonly message: string; readonly code?: string; readonly hint?: string };
}

parentPort?.on('message', (request: ParserRequest) => {
  void answer(request).then((reply) => parentPort?.postMessage(reply, []));
});

/** The items that came before their task, and the extractions that were not asked for yet. */
let waitingItems: Item[] = [];
let waiting: Extraction[] = [];

async function answer({ task, progress }: ParserRequest): Promise<ParserReply> {
  try {
    const value = await run(task, progress);
    return { value, hasMore: waiting.length > 0 };
  } catch (error) {
    const known = error instanceof UserError ? { code: error.code, hint: error.hint } : {};
    const message = error instanceof UserError ? error.message : errorMessage(error);
    return { failure: { message, ...known } };
  }
}

async function run(task: ParserTask, progress: ParserProgress): Promise<unknown> {
  switch (task.kind) {
    case 'extract': {
      const source = await (task.config === undefined ? openNotes() : openSource(task.config));
      await source.prepare();
      Atomics.add(progress, 1, 1);
      const all = [...waitingItems, ...task.items];
      waitingItems = [];
      waiting = [...source.extract(reportReads(all, progress), task.context)];
      return waiting.splice(0, task.messageSize);
    }
    case 'items':
      waitingItems.push(...task.items);
      return undefined;
    case 'more':
      return waiting.splice(0, task.messageSize);
    case 'yaml': {
      Atomics.add(progress, 1, 1);
      const yaml = readLocatedYaml(task.text);
      return 'broken' in yaml ? yaml.broken : undefined;
    }
    case 'artifact':
      Atomics.add(progress, 1, 1);
      return reduceArtifact(task.name, Buffer.from(task.bytes).toString('utf8'));
  }
  return task satisfies never;
}

/** The items, which report when their body is read: whoever reads it is about to parse it. */
function reportReads(items: readonly Item[], progress: ParserProgress): readonly Item[] {
  return items.map(({ key, path, body }, index) => ({
    key,
    path,
    get body() {
      Atomics.store(progress, 0, index + 1);
      Atomics.add(progress, 1, 1);
      return body;
    },
  }));
}
