import { join } from 'node:path';
import { parseItemIndex } from '../../ingest/fetch/item-files.ts';
import type { SourceInput } from '../../ingest/ingest-run.ts';
import { UserError } from '../../lib/error.ts';
import { itemPath } from '../../sources/source.ts';
import { listConfinedFolder } from '../../store/confined-file.ts';
import { readText } from '../../store/files.ts';
import { findConnection, type ProjectConfig } from '../open/config.ts';
import { notesName } from '../../sources/notes/note-files.ts';

/**
 * A source that was removed from `ktx.yaml`, or renamed there, while the project still has its
 * items.
 */
export interface RemovedSource {
  readonly connection: string;
  /** How many items still count as evidence. */
  readonly items: number;
}

/**
 * Sorted by name. Warehouses are not listed: nothing reads their files once the connection is gone.
 */
export async function listRemovedSources({
  dir,
  config,
}: {
  readonly dir: string;
  readonly config: ProjectConfig;
}): Promise<RemovedSource[]> {
  const folders = (await listConfinedFolder(join(dir, 'sources'), dir)) ?? [];
  const removed = folders
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => name !== notesName && findConnection(config, name) === undefined)
    .sort();
  const counted = removed.map(async (connection) => {
    const index = await readText(join(dir, itemPath(connection, 'index.jsonl')), dir);
    return { connection, items: parseItemIndex(index ?? '').length };
  });
  return (await Promise.all(counted)).filter(({ items }) => items > 0);
}

/**
 * Stands in for each named source with one that lists no items, so that ingest removes what only it
 * supported.
 */
export function chooseSourcesToForget(
  names: readonly string[],
  removed: readonly RemovedSource[],
): Omit<SourceInput, 'secrets'>[] {
  const choices = removed.map(({ connection }) => connection);
  return names.map((name) => {
    if (!choices.includes(name)) throw notRemoved(name, choices);
    return { name, open: async () => emptySource, isAsked: true };
  });
}

const emptySource = {
  extractor: 'none@1',
  async *fetch() {
    yield { kind: 'end', listingComplete: true } as const;
  },
  covers: () => true,
  isConfiguration: () => true,
  prepare: async () => undefined,
  extract: () => [],
};

function notRemoved(name: string, choices: readonly string[]): UserError {
  const hint =
    choices.length === 0
      ? 'Remove the source from ktx.yaml first: ktx connection remove <name>.'
      : `one of ${choices.join(', ')}`;
  return new UserError('source_not_former', `${name} is not a removed source.`, {
    hint,
    exitCode: 2,
    details: { choices },
  });
}
