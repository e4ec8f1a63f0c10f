import type { Json } from '../../lib/json.ts';
import { isUnedited, type ContentHash, type MergeBase } from './merge-base.ts';
import { mergeUnits } from './three-way.ts';
import type { YamlEdit } from './yaml-edit.ts';
import {
  entryLists,
  hashValue,
  identityKeys,
  toMapping,
  valuesByPath,
  type EntryList,
  type YamlEntry,
  type YamlValue,
} from './yaml-values.ts';

/** An edit of the text, and the values that it leaves at each path; undefined: none. */
export interface YamlChange {
  readonly edit: YamlEdit;
  readonly effects: readonly (readonly [path: string, value: Json | undefined])[];
}

export interface MergedEntries {
  readonly changes: YamlChange[];
  /** The base once all changes are made. */
  readonly base: Map<string, readonly ContentHash[]>;
  /** Paths of what is the person's, other than what they took out. */
  readonly kept: string[];
  /** Paths of what the person took out since the last run. */
  readonly removed: string[];
  /** Paths of entries that ktx would remove if they held nothing of the person's. */
  readonly stale: string[];
}

interface EntrySides {
  readonly file: readonly YamlEntry[];
  readonly compiled: readonly YamlEntry[];
  readonly base: MergeBase;
}

/** Every other key of a metric or a segment defines it. */
const documentationKeys = new Set(['description', 'synonyms', 'hidden', 'pii', 'unit', 'owner']);
/** What a person's expression for a field settles as well. */
const computationKeys = new Set(['expr', 'type', 'values']);

/**
 * Merges the entries of a dataset's file with the compiled ones. Both sides have an entry for the
 * top.
 */
export function mergeEntries(sides: EntrySides): MergedEntries {
  const merged: MergedEntries = { changes: [], base: new Map(), kept: [], removed: [], stale: [] };
  for (const list of [undefined, ...entryLists]) mergeList(sides, list, merged);
  return merged;
}

/** Adds what becomes of the entries of one list to `merged`; `list` is undefined for the top. */
function mergeList(sides: EntrySides, list: EntryList | undefined, merged: MergedEntries): void {
  const { file, compiled, base } = sides;
  const existing = file.filter(({ at }) => at[0] === list);
  const compiledByPath = new Map(
    compiled.filter(({ at }) => at[0] === list).map((entry) => [entry.path, entry]),
  );
  const gone: YamlEntry[] = [];
  for (const entry of existing) {
    const match = compiledByPath.get(entry.path);
    const isKtx =
      entry.values.length > 0 && entry.values.every((value) => isLeftByKtx(base, value));
    if (!match && isKtx) gone.push(entry);
    else mergeEntry(base, { entry, match }, merged);
    compiledByPath.delete(entry.path);
  }
  const isNew = ({ values }: YamlEntry) =>
    values.every(({ path, key }) => !identityKeys.has(key) || isUnedited(base, path, null));
  const absent = [...compiledByPath.values()];
  const added = absent.filter(isNew);
  merged.removed.push(...absent.filter((entry) => !isNew(entry)).map(({ path }) => path));
  for (const [path, value] of valuesByPath(added)) merged.base.set(path, [hashValue(value)]);
  if (list !== undefined) merged.changes.push(...listChanges(list, existing, { gone, added }));
}

/** One change for each entry, but a list that appears or disappears as a whole is one change. */
function listChanges(
  list: EntryList,
  existing: readonly YamlEntry[],
  { gone, added }: Record<'gone' | 'added', readonly YamlEntry[]>,
): YamlChange[] {
  const removals = gone.map((entry): YamlChange => ({
    edit: { at: entry.at, value: undefined },
    effects: entry.values.map(({ path }) => [path, undefined]),
  }));
  const additions = added.map((entry, position): YamlChange => ({
    edit: { at: [list, existing.length + position], value: toMapping(entry) },
    effects: [...valuesByPath([entry])],
  }));
  const changes = [...removals, ...additions];
  const isWholeList = gone.length === existing.length && (gone.length === 0 || added.length === 0);
  if (!isWholeList || changes.length === 0) return changes;
  const value = added.length === 0 ? undefined : added.map(toMapping);
  return [{ edit: { at: [list], value }, effects: changes.flatMap(({ effects }) => effects) }];
}

interface EntryPair {
  readonly entry: YamlEntry;
  /** The compiled entry of the same path. */
  readonly match: YamlEntry | undefined;
}

/** Merges an entry of the file value by value. */
function mergeEntry(base: MergeBase, { entry, match }: EntryPair, merged: MergedEntries): void {
  const target = match
    ? keepDefinition(base, { entry, match }, merged)
    : keepPersonsPart(base, entry, merged);
  const compiled = valuesByPath([target]);
  const keys = new Map([...entry.values, ...target.values].map(({ path, key }) => [path, key]));
  const claimed = valuesByPath(match ? [match] : []);
  const isAdopted = (path: string) =>
    claimed.has(path) && hashValue(claimed.get(path)) === hashValue(compiled.get(path));
  const file = valuesByPath([entry]);
  const units = mergeUnits({ file, compiled, base, hash: hashValue, isAdopted });
  for (const [path, recorded] of units.base) merged.base.set(path, recorded);
  for (const [path, decision] of units.decisions) {
    if (decision === 'keep' || decision === 'stale') merged.kept.push(path);
    if (decision === 'omit') merged.removed.push(path);
    if (decision !== 'take' && decision !== 'remove') continue;
    const value = compiled.get(path);
    const at = [...entry.at, keys.get(path) ?? ''];
    merged.changes.push({ edit: { at, value }, effects: [[path, value]] });
  }
}

/**
 * The compiled entry, except where a person defined the entry: then their definition stands as a
 * whole. A metric or a segment is theirs once they changed any key that defines it, a field once
 * they changed its expression.
 */
function keepDefinition(
  base: MergeBase,
  { entry, match }: Record<'entry' | 'match', YamlEntry>,
  merged: MergedEntries,
): YamlEntry {
  const fileValues = valuesByPath([entry]);
  const compiledValues = valuesByPath([match]);
  const isWhole = isMergedWhole(entry);
  const isDefinition = ({ key }: YamlValue) =>
    isWhole ? !documentationKeys.has(key) : computationKeys.has(key);
  const isEdited = ({ path }: YamlValue) => {
    const hash = hashValue(fileValues.get(path));
    return !isUnedited(base, path, hash) && hash !== hashValue(compiledValues.get(path));
  };
  const isTheirs = [...entry.values, ...match.values].some(
    (value) => isDefinition(value) && (isWhole || value.key === 'expr') && isEdited(value),
  );
  if (!isTheirs) return match;
  merged.kept.push(entry.path);
  const definition = entry.values.filter(isDefinition);
  const documentation = match.values.filter((value) => !isDefinition(value));
  return { ...match, values: [...definition, ...documentation] };
}

/** Of an entry that is no longer compiled: what the person wrote in it, and what that needs. */
function keepPersonsPart(base: MergeBase, entry: YamlEntry, merged: MergedEntries): YamlEntry {
  const names = entry.values.filter(({ key }) => identityKeys.has(key));
  const isNamedByKtx = names.length > 0 && names.every((name) => isLeftByKtx(base, name));
  if (isNamedByKtx) merged.stale.push(entry.path);
  merged.kept.push(entry.path);
  const values = entry.values.filter(
    (value) => isMergedWhole(entry) || names.includes(value) || !isLeftByKtx(base, value),
  );
  return { ...entry, values };
}

function isLeftByKtx(base: MergeBase, { path, value }: YamlValue): boolean {
  return isUnedited(base, path, hashValue(value));
}

/** Metrics and segments have a meaning only as a whole. */
function isMergedWhole({ at }: YamlEntry): boolean {
  return at[0] === 'metrics' || at[0] === 'segments';
}
