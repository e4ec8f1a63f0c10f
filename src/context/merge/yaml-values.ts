import type { Json } from '../../lib/json.ts';
import { isList, isMapping, type YamlMapping } from './yaml-text.ts';

/** Lists of an artifact whose entries have an identity of their own. */
export const entryLists = ['fields', 'segments', 'metrics', 'relationships'] as const;
export type EntryList = (typeof entryLists)[number];

/** The order in which ktx writes keys, at every level. */
export const keyOrder = [
  'dataset',
  'name',
  'to',
  'on',
  'source',
  'sql',
  'role',
  'cardinality',
  'via',
  'expr',
  'agg',
  'of',
  'type',
  'fraction',
  'where',
  'ratio',
  'cumulative',
  'offset',
  'total',
  'semi_additive',
  'conversion',
  'unit',
  'primary_key',
  'unique_keys',
  'default_time',
  'fiscal_year_start',
  'description',
  'synonyms',
  'tags',
  'values',
  'hidden',
  'row_metrics',
  ...entryLists,
  'access',
  'parameters',
];

/** One value that is merged as a whole: a key at the top of the file, or a key of one entry. */
export interface YamlValue {
  /** `source`, `fields.status.description`, `relationships.customers(customer_id=id).role`. */
  readonly path: string;
  readonly key: string;
  readonly value: Json;
}

/** An entry of a list, or the top of the file, without those lists, as the entry at the path ''. */
export interface YamlEntry {
  readonly path: string;
  /** Where it stands; empty for the top. */
  readonly at: readonly [] | readonly [list: EntryList, index: number];
  readonly leaves: readonly YamlValue[];
}

/** The keys of the leaves that tell an entry from others. */
export const identityKeys: ReadonlySet<string> = new Set(['dataset', 'name', 'to', 'on']);

/** The values of an artifact by path, the top first. Entries are told apart by `name`, relationships by `to` and `on`. */
export function listEntries(artifact: YamlMapping): YamlEntry[] {
  const lists: readonly string[] = entryLists;
  const top = Object.entries(artifact).filter(([key]) => !lists.includes(key));
  return [
    { path: '', at: [], leaves: leavesIn('', top) },
    ...entryLists.flatMap((list) => entriesOf(list, artifact[list])),
  ];
}

/** All leaves by path. */
export function valuesByPath(entries: readonly YamlEntry[]): Map<string, Json> {
  return new Map(entries.flatMap(({ leaves }) => leaves.map(({ path, value }) => [path, value])));
}

export function toMapping({ leaves }: YamlEntry): { readonly [key: string]: Json } {
  return Object.fromEntries(leaves.map(({ key, value }) => [key, value]));
}

/** The artifact that `listEntries` gave these entries of. */
export function toArtifact(entries: readonly YamlEntry[]): YamlMapping {
  const [tops, members] = [
    entries.filter(({ at }) => at.length === 0),
    Map.groupBy(entries, ({ at }) => at[0]),
  ];
  const lists = entryLists.map((list) => [list, members.get(list)?.map(toMapping)]);
  return Object.fromEntries([
    ...tops.flatMap((top) => Object.entries(toMapping(top))),
    ...lists,
  ]) as YamlMapping;
}

function leavesIn(prefix: string, pairs: readonly [string, Json | undefined][]): YamlValue[] {
  return pairs.flatMap(([key, value]) =>
    value === undefined ? [] : [{ path: prefix + key, key, value }],
  );
}

function entriesOf(list: EntryList, values: Json | undefined): YamlEntry[] {
  const counts = new Map<string, number>();
  return (isList(values) ? values : []).map((value, index) => {
    const mapping = isMapping(value) ? value : {};
    const name = list === 'relationships' ? linkName(mapping) : textOf(mapping['name']);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const path = count === 1 && name !== '' ? `${list}.${name}` : `${list}.${name}#${count}`;
    return { path, at: [list, index], leaves: leavesIn(`${path}.`, Object.entries(mapping)) };
  });
}

function linkName({ to, on }: { readonly [key: string]: Json }): string {
  const pairs = isMapping(on)
    ? Object.entries(on).map(([own, target]) => `${own}=${textOf(target)}`)
    : [textOf(on)];
  return typeof to === 'string' ? `${to}(${pairs.sort().join(',')})` : '';
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
