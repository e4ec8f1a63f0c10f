import type { Json } from '../lib/json.ts';
import { isList, isMapping } from './yaml-text.ts';

/** Lists of an artifact whose entries have an identity of their own. */
export const entryLists = ['fields', 'segments', 'metrics', 'relationships'] as const;
export type EntryList = (typeof entryLists)[number];

/** The order in which ktx writes keys, at every level. */
export const keyOrder = [
  'dataset', 'name', 'to', 'on', 'source', 'sql', 'role', 'cardinality', 'via', 'expr', 'agg', 'of', 'type', 'fraction', 'where',
  'ratio', 'cumulative', 'offset', 'semi_additive', 'unit', 'primary_key', 'unique_keys', 'default_time', 'description',
  'synonyms', 'tags', 'values', 'hidden', ...entryLists,
]; // prettier-ignore

/** One value that is merged as a whole: a key at the top of the file, or a key of one entry. */
export interface Leaf {
  /** `source`, `fields.status.description`, `relationships.customers(customer_id=id).role`. */
  readonly path: string;
  readonly key: string;
  readonly value: Json;
}

export interface Entry {
  readonly path: string;
  readonly list: EntryList;
  /** Position in its list. */
  readonly index: number;
  /** The key of the leaf that stands for the entry itself. */
  readonly identity: 'name' | 'to';
  /** Its keys; not the `on` of a relationship, which is part of its path. */
  readonly leaves: readonly Leaf[];
  readonly value: Json;
}

export interface Outline {
  readonly top: readonly Leaf[];
  /** The lists of entries that are there, if only empty. */
  readonly lists: ReadonlySet<string>;
  readonly entries: readonly Entry[];
}

/** The values of an artifact by path. Entries are told apart by `name`, relationships by `to` and `on`. */
export function outline(artifact: Readonly<Record<string, Json | undefined>>): Outline {
  const top: Leaf[] = [];
  const entries: Entry[] = [];
  const lists = new Set<string>();
  const seen = new Map<string, number>();
  for (const [key, value] of Object.entries(artifact)) {
    if (value === undefined) continue;
    const list = entryLists.find((name) => name === key);
    if (list) lists.add(list);
    if (!list || (value !== null && !isList(value))) top.push({ path: key, key, value });
    else for (const [index, entry] of (value ?? []).entries()) entries.push(entryOf(list, index, { entry, seen }));
  }
  return { top, lists, entries };
}

/** All leaves by path. */
export function leavesOf({ top, entries }: Outline): Map<string, Json> {
  return new Map([...top, ...entries.flatMap(({ leaves }) => leaves)].map(({ path, value }) => [path, value]));
}

function entryOf(list: EntryList, index: number, { entry, seen }: { entry: Json; seen: Map<string, number> }): Entry {
  const identity = list === 'relationships' ? 'to' : 'name';
  const named = `${list}.${entryName(list, entry) ?? ''}`;
  const count = (seen.get(named) ?? 0) + 1;
  seen.set(named, count);
  const path = count === 1 && !named.endsWith('.') ? named : `${named}#${count}`;
  const pairs = isMapping(entry) ? Object.entries(entry).filter(([key]) => identity !== 'to' || key !== 'on') : [];
  const leaves = pairs.map(([key, value]) => ({ path: `${path}.${key}`, key, value }));
  return { path, list, index, identity, leaves, value: entry };
}

function entryName(list: EntryList, entry: Json): string | undefined {
  if (!isMapping(entry)) return undefined;
  if (list !== 'relationships') return typeof entry['name'] === 'string' ? entry['name'] : undefined;
  const { to, on } = entry;
  if (typeof to !== 'string') return undefined;
  if (typeof on === 'string') return `${to}(${on})`;
  const pairs = isMapping(on ?? null) ? Object.entries(on ?? {}) : [];
  return `${to}(${pairs.map(([own, target]) => `${own}=${String(target)}`).sort().join(',')})`; // prettier-ignore
}
