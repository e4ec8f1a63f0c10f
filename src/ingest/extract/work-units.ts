import type { Claim } from '../../context/claims/claim.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { type Extraction, type Item, itemPath, type UnreadText } from '../../sources/source.ts';
import type { ProjectFindings, SourceFindings } from '../fetch/findings.ts';
import {
  createTablesHasher,
  hashItem,
  readingVersion,
  type TablesHasher,
} from '../fetch/item-files.ts';

/** An item that a model has yet to read. */
export interface PendingItem {
  /** The source. */
  readonly connection: string;
  readonly item: Item;
  /** The parts that only a model can read. */
  readonly unread: readonly UnreadText[];
  /** Changes with the content of the item and with the tables that it is known to speak of. */
  readonly key: string;
  /**
   * Changes with the content of the item. Its outcome in the journal counts as long as `slice` of
   * its claims is the same.
   */
  readonly readingKey: string;
  /**
   * The hash of the tables that the item speaks of, by what code read in it and by these claims of
   * a model.
   */
  readonly slice: (claims: readonly Claim[]) => string;
  /** What code read in the item. */
  readonly extraction?: Extraction | undefined;
  /** Set for a part of an item that is too long to be read at once: the item. */
  readonly whole?: PendingItem;
}

/** Items of one source that a model reads together. */
export interface WorkUnit {
  /** The path of its first item. */
  readonly id: string;
  readonly connection: string;
  readonly items: readonly PendingItem[];
}

interface PendingOptions {
  /** Only items of these sources. */
  readonly sources: ReadonlySet<string>;
  /** Whether to include what a model has read. */
  readonly isAnew: boolean;
}

/**
 * The items that a model has to read, sorted by path, so that neither order nor concurrency
 * matters.
 */
export function listPendingItems(
  { sources, connections }: ProjectFindings,
  options: PendingOptions,
): PendingItem[] {
  const hashTables = createTablesHasher(connections.map(({ catalog }) => catalog));
  return sources
    .filter(({ connection }) => options.sources.has(connection))
    .flatMap((source) => pendingItemsOf(source, options, hashTables))
    .sort((a, b) => (pendingPath(a) < pendingPath(b) ? -1 : 1));
}

function pendingItemsOf(
  { connection, extractor, items, extractions, readings }: SourceFindings,
  { isAnew }: PendingOptions,
  hashTables: TablesHasher,
): PendingItem[] {
  const extractionsByKey = new Map(extractions.map((extraction) => [extraction.key, extraction]));
  const keyOf = (parts: readonly string[]) =>
    `${readingVersion} ${shortHash(canonicalJson(parts), 32)}`;
  return items.flatMap((item): PendingItem[] => {
    const reading = readings.get(item.key);
    if (reading === undefined || (reading.isCurrent && !isAnew)) return [];
    const extraction = extractionsByKey.get(item.key);
    const content = [extractor, itemPath(connection, item.path), hashItem(item)];
    const slice = (claims: readonly Claim[]) => hashTables(extraction, claims);
    return [
      {
        connection,
        item,
        unread: extraction?.unread ?? [],
        key: keyOf([...content, slice(reading.claims)]),
        readingKey: keyOf(content),
        slice,
        extraction,
      },
    ];
  });
}

/** The path of the item in the project. */
export function pendingPath({ connection, item }: PendingItem): string {
  return itemPath(connection, item.path);
}

/** Small items share a unit, because the prompt around them costs more than they do. */
const mostItems = 6;
const mostCharacters = 16_000;

/** Groups items into units as large as the limits allow, in the order of the items. */
export function groupIntoUnits(items: readonly PendingItem[]): WorkUnit[] {
  const groups: { connection: string; items: PendingItem[]; characters: number }[] = [];
  for (const item of items) {
    const characters = item.unread.reduce((sum, { text }) => sum + text.length, 0);
    const last = groups.at(-1);
    const fits =
      last?.connection === item.connection &&
      last.items.length < mostItems &&
      last.characters + characters <= mostCharacters;
    if (!fits) groups.push({ connection: item.connection, items: [item], characters });
    else {
      last.items.push(item);
      last.characters += characters;
    }
  }
  return groups.map((group) => unitOf(group.items));
}

/** A unit of one item. */
export function singleItemUnit(item: PendingItem): WorkUnit {
  return unitOf([item]);
}

/** Units of half the items each; of a single item one unit. */
export function halveItems(items: readonly PendingItem[]): WorkUnit[] {
  const middle = Math.ceil(items.length / 2);
  const halves = [items.slice(0, middle), items.slice(middle)];
  return halves.filter(({ length }) => length > 0).map(unitOf);
}

/** A unit of these items, of one source. */
export function unitOf(items: readonly PendingItem[]): WorkUnit {
  const [first] = items;
  if (first === undefined) throw new Error('a work unit has at least one item');
  return { id: pendingPath(first), connection: first.connection, items };
}
