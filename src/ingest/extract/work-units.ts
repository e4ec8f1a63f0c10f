import type { Claim } from '../../context/claims/claim.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { type Item, itemPath, type UnreadText } from '../../sources/source.ts';
import type { ProjectFindings } from '../fetch/findings.ts';
import { hashItem, readingVersion, createTablesHasher } from '../fetch/item-files.ts';

/** An item that a model has yet to read. */
export interface PendingItem {
  /** The source. */
  readonly connection: string;
  readonly item: Item;
  /** What of it only a model can read. */
  readonly unread: readonly UnreadText[];
  /** Content key of the item and the tables that it is known to speak of. */
  readonly key: string;
  /** Content key of what is read in it. It counts while `slice` of its claims is the same. */
  readonly readingKey: string;
  /** The state of the tables that the item speaks of, by code and these claims of a model. */
  readonly slice: (claims: readonly Claim[]) => string;
}

/** The items that one extraction takes together; all of one source. */
export interface WorkUnit {
  /** The path of its first item. */
  readonly id: string;
  readonly connection: string;
  readonly items: readonly PendingItem[];
}

interface Wanted {
  /** Only these sources. */
  readonly sources: ReadonlySet<string>;
  /** Also what is read already. */
  readonly isAnew: boolean;
}

/** Sorted by path, so that neither order nor concurrency can matter. */
export function pendingItems(
  { sources, connections }: ProjectFindings,
  { sources: asked, isAnew }: Wanted,
): PendingItem[] {
  const sliceOf = createTablesHasher(connections.map(({ catalog }) => catalog));
  const pending = sources
    .filter(({ connection }) => asked.has(connection))
    .flatMap(({ connection, extractor, items, extractions, readings }) => {
      const code = new Map(extractions.map((extraction) => [extraction.key, extraction]));
      return items.flatMap((item): PendingItem[] => {
        const reading = readings.get(item.key);
        const extraction = code.get(item.key);
        if (reading === undefined || (reading.isCurrent && !isAnew)) return [];
        const content = [extractor, itemPath(connection, item.path), hashItem(item)];
        const keyOf = (parts: readonly string[]) =>
          `${readingVersion} ${shortHash(canonicalJson(parts), 32)}`;
        const slice = (claims: readonly Claim[]) => sliceOf(extraction, claims);
        const keys = {
          key: keyOf([...content, slice(reading.claims)]),
          readingKey: keyOf(content),
        };
        return [{ connection, item, unread: extraction?.unread ?? [], ...keys, slice }];
      });
    });
  const place = ({ connection, item }: PendingItem) => itemPath(connection, item.path);
  return pending.sort((a, b) => (place(a) < place(b) ? -1 : 1));
}

/** Small ones share a unit: its frame costs more than they do. */
const mostItems = 6;
const mostCharacters = 16_000;

/** The items in their order, in units as large as they may be. */
export function unitsOf(items: readonly PendingItem[]): WorkUnit[] {
  const units: { connection: string; items: PendingItem[]; size: number }[] = [];
  for (const one of items) {
    const size = one.unread.reduce((sum, { text }) => sum + text.length, 0);
    const last = units.at(-1);
    const fits =
      last?.connection === one.connection &&
      last.items.length < mostItems &&
      last.size + size <= mostCharacters;
    if (!fits) units.push({ connection: one.connection, items: [one], size });
    else {
      last.items.push(one);
      last.size += size;
    }
  }
  return units.map(({ connection, items: own }) => ({
    id: itemPath(connection, own[0]?.item.path ?? ''),
    connection,
    items: own,
  }));
}
