import type { Catalog } from '../../context/catalog/catalog.ts';
import { sha256 } from '../../lib/hash.ts';
import type { Json } from '../../lib/json.ts';
import type { SharedResults } from '../../store/shared/shared-results.ts';
import { type Snapshot, snapshotOf } from '../project-snapshot.ts';

/** Puts what the loops see of the project where workers find it. Returns its key. */
export async function sendSnapshot(
  results: SharedResults,
  { catalogs, files }: Snapshot,
): Promise<string> {
  const sent = JSON.parse(JSON.stringify({ catalogs, files: [...files] })) as Json;
  const key = `snapshot ${sha256(JSON.stringify(sent))}`;
  await results.keep(key, sent);
  return key;
}

/** Undefined if it is there no more: its run has ended. */
export async function receiveSnapshot(
  results: SharedResults,
  key: string,
  warehouse: Snapshot['warehouse'],
): Promise<Snapshot | undefined> {
  // ktx wrote it, so its shape is known.
  const sent = (await results.find([key])).get(key) as unknown as
    | { readonly catalogs: readonly Catalog[]; readonly files: readonly [string, string][] }
    | undefined;
  return sent && snapshotOf({ catalogs: sent.catalogs, files: new Map(sent.files), warehouse });
}
