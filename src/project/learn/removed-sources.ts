import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseItemIndex } from '../../ingest/fetch/item-files.ts';
import type { SourceInput } from '../../ingest/fetch/read-sources.ts';
import { UserError } from '../../lib/error.ts';
import { itemPath } from '../../sources/source.ts';
import { absent, readText } from '../../store/files.ts';
import { findConnection, notesName, type ProjectConfig } from '../open/config.ts';

/** A source that ktx.yaml has no longer, or has by another name, and whose items still count. */
export interface RemovedSource {
  readonly connection: string;
  readonly items: number;
}

/** Sorted by name. Files of a warehouse that is no longer there are read by nobody. */
export async function listRemovedSources({
  dir,
  config,
}: {
  readonly dir: string;
  readonly config: ProjectConfig;
}): Promise<RemovedSource[]> {
  const folders =
    (await readdir(join(dir, 'sources'), { withFileTypes: true }).catch(absent)) ?? [];
  const names = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const others = names
    .filter((name) => name !== notesName && findConnection(config, name) === undefined)
    .sort();
  const counted = others.map(async (connection) => {
    const index = await readText(join(dir, itemPath(connection, 'index.jsonl')), dir);
    return { connection, items: parseItemIndex(index ?? '').length };
  });
  return (await Promise.all(counted)).filter(({ items }) => items > 0);
}

/** A source that reads nothing, in the place of one of these: what only it supported goes, as with an item that is gone. */
export function sourcesToForget(
  names: readonly string[],
  former: readonly RemovedSource[],
): SourceInput[] {
  const known = former.map(({ connection }) => connection);
  return names.map((name) => {
    if (!known.includes(name)) throw notFormer(name, known);
    return { name, open: async () => nothing, isAsked: true };
  });
}

const nothing = {
  extractor: 'none@1',
  async *fetch() {
    yield { kind: 'end', listingComplete: true } as const;
  },
  covers: () => true,
  isFrame: () => true,
  extract: () => [],
};

function notFormer(name: string, known: readonly string[]): UserError {
  const hint =
    known.length === 0
      ? 'ktx connection remove takes one out of ktx.yaml first.'
      : `one of ${known.join(', ')}`;
  const message = `${name} is no source that ktx.yaml no longer has.`;
  return new UserError('source_not_former', message, {
    hint,
    exitCode: 2,
    details: { choices: known },
  });
}
