import { parentPort } from 'node:worker_threads';
import { errorMessage, UserError } from '../lib/error.ts';
import { readLocatedYaml } from '../lib/yaml/located-yaml.ts';
import type { SourceConfig } from './config.ts';
import { type ArtifactName, reduceArtifact } from './dbt/artifacts/reduce-artifact.ts';
import { openNotes, openSource } from './registry.ts';
import type { ExtractContext, Item } from './source.ts';

/** What the thread can do. Everything in it can be copied to another thread. */
export type ParserTask =
  | {
      readonly kind: 'extract';
      /** Undefined for notes. */
      readonly config: SourceConfig | undefined;
      readonly items: readonly Item[];
      readonly context: Omit<ExtractContext<unknown>, 'config'>;
    }
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
  /** Set if the task failed; with a code if a person can do something about it. */
  readonly failure?: { readonly message: string; readonly code?: string; readonly hint?: string };
}

parentPort?.on('message', (request: ParserRequest) => {
  void answer(request).then((reply) => parentPort?.postMessage(reply, []));
});

async function answer({ task, progress }: ParserRequest): Promise<ParserReply> {
  try {
    return { value: await run(task, progress) };
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
      Atomics.add(progress, 1, 1);
      return source.extract(reportReads(task.items, progress), task.context);
    }
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
