import { shortHash } from '../../lib/hash.ts';
import { canonicalJson, type Json } from '../../lib/json.ts';
import type { ContentHash } from './merge-base.ts';
import { isList, isMapping, type YamlFileContent } from './yaml-text.ts';

/** The lists of a dataset's file whose entries are merged one by one. */
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
  'unreviewed',
  'primary_key',
  'unique_keys',
  'default_time',
  'time_spine',
  'fiscal_year_start',
  'layer',
  'owner',
  'description',
  'synonyms',
  'tags',
  'constraints',
  'values',
  'pii',
  'hidden',
  'row_metrics',
  'conformed_dimensions',
  ...entryLists,
  'access',
  'parameters',
];

/** A value that is merged as a whole: a key at the top of the file, or a key of one entry. */
export interface YamlValue {
  /** `source`, `fields.status.description`, `relationships.customers(customer_id=id).role`. */
  readonly path: string;
  readonly key: string;
  readonly value: Json;
}

/** An entry of a list. The top of the file, without its lists, is the entry at the path ''. */
export interface YamlEntry {
  readonly path: string;
  /** Its position in the file; empty for the top. */
  readonly at: readonly [] | readonly [list: EntryList, index: number];
  readonly values: readonly YamlValue[];
}

/** The keys that tell an entry from the others of its list. */
export const identityKeys: ReadonlySet<string> = new Set(['dataset', 'name', 'to', 'on']);

/**
 * The entries of a dataset's file, the top first. Their paths contain `name`, those of
 * relationships `to` and `on`.
 */
export function listEntries(artifact: YamlFileContent): YamlEntry[] {
  const lists: readonly string[] = entryLists;
  const top = Object.entries(artifact).filter(([key]) => !lists.includes(key));
  return [
    { path: '', at: [], values: listValues('', top) },
    ...entryLists.flatMap((list) => listEntriesOf(list, artifact[list])),
  ];
}

export function valuesByPath(entries: readonly YamlEntry[]): Map<string, Json> {
  return new Map(entries.flatMap(({ values }) => values.map(({ path, value }) => [path, value])));
}

export function toMapping({ values }: YamlEntry): { readonly [key: string]: Json } {
  return Object.fromEntries(values.map(({ key, value }) => [key, value]));
}

/** The content of a dataset's file with these entries; the inverse of `listEntries`. */
export function toArtifact(entries: readonly YamlEntry[]): YamlFileContent {
  const tops = entries.filter(({ at }) => at.length === 0);
  const byList = Map.groupBy(entries, ({ at }) => at[0]);
  const lists = entryLists.map((list) => [list, byList.get(list)?.map(toMapping)]);
  return Object.fromEntries([
    ...tops.flatMap((top) => Object.entries(toMapping(top))),
    ...lists,
  ]) as YamlFileContent;
}

/** The hash by which the merge compares values; null for no value. */
export function hashValue(value: Json): string;
export function hashValue(value: Json | undefined): ContentHash;
export function hashValue(value: Json | undefined): ContentHash {
  return value === undefined ? null : shortHash(canonicalJson(value), 8);
}

function listValues(prefix: string, pairs: readonly [string, Json | undefined][]): YamlValue[] {
  return pairs.flatMap(([key, value]) =>
    value === undefined ? [] : [{ path: prefix + key, key, value }],
  );
}

/** A second entry of the same name has the path `fields.status#2`. */
function listEntriesOf(list: EntryList, items: Json | undefined): YamlEntry[] {
  const counts = new Map<string, number>();
  return (isList(items) ? items : []).map((item, index) => {
    const mapping = isMapping(item) ? item : {};
    const name =
      list === 'relationships' ? relationshipName(mapping) : textOrEmpty(mapping['name']);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const path = count === 1 && name !== '' ? `${list}.${name}` : `${list}.${name}#${count}`;
    return { path, at: [list, index], values: listValues(`${path}.`, Object.entries(mapping)) };
  });
}

function relationshipName({ to, on }: { readonly [key: string]: Json }): string {
  const pairs = isMapping(on)
    ? Object.entries(on).map(([own, target]) => `${own}=${textOrEmpty(target)}`)
    : [textOrEmpty(on)];
  return typeof to === 'string' ? `${to}(${pairs.sort().join(',')})` : '';
}

function textOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
