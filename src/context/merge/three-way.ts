import { shortHash } from '../../lib/hash.ts';
import { canonicalJson, type Json } from '../../lib/json.ts';
import type { MergeBase } from '../claims/claims-file.ts';
import {
  entryLists,
  identityKeys,
  valuesByPath,
  toMapping,
  type YamlEntry,
  type EntryList,
  type YamlValue,
} from './yaml-values.ts';
import type { YamlEdit } from './yaml-edit.ts';

/** An edit of the text, and what it makes of which paths; undefined: gone. */
export interface Change {
  readonly edit: YamlEdit;
  readonly effects: readonly (readonly [path: string, value: Json | undefined])[];
}

export interface Decisions {
  readonly changes: Change[];
  readonly base: Map<string, readonly (string | null)[]>;
  /** Paths of what is the person's, other than what they took out. */
  readonly kept: string[];
  /** Paths of what the person took out since the last run. */
  readonly removed: string[];
  /** Paths of entries that ktx would remove, were there nothing of the person's in them. */
  readonly stale: string[];
}

interface Sides {
  readonly file: readonly YamlEntry[];
  readonly compiled: readonly YamlEntry[];
  readonly base: MergeBase;
  readonly decisions: Decisions;
}

/** All other keys of a metric or a segment define it. */
const documentation = new Set(['description', 'synonyms', 'hidden', 'unit']);
/** What a person's expression of a field decides. */
const computation = new Set(['expr', 'type', 'values']);

/**
 * Decides value by value what ktx may change: a value in the state that the base records is ktx's, any other is the
 * person's; what the base records and the file has not, the person took out. Both sides have a top.
 */
export function decide(
  file: readonly YamlEntry[],
  compiled: readonly YamlEntry[],
  base: MergeBase,
): Decisions {
  const decisions: Decisions = { changes: [], base: new Map(), kept: [], removed: [], stale: [] };
  const sides = { file, compiled, base, decisions };
  for (const list of [undefined, ...entryLists]) decideList(sides, list);
  return decisions;
}

/** The state of a value as the base records it. */
export function stateOf(value: Json | undefined): string | null {
  return value === undefined ? null : shortHash(canonicalJson(value), 8);
}

/** True where ktx left the value, or its absence, as it is. */
export function isKtx(base: MergeBase, path: string, value: Json | undefined): boolean {
  return (base.get(path) ?? [null]).includes(stateOf(value));
}

/** The entries of a list; `undefined` stands for the top. */
function decideList(sides: Sides, list: EntryList | undefined): void {
  const { file, compiled, base, decisions } = sides;
  const existing = file.filter(({ at }) => at[0] === list);
  const wanted = new Map(
    compiled.filter(({ at }) => at[0] === list).map((entry) => [entry.path, entry]),
  );
  const gone: YamlEntry[] = [];
  for (const entry of existing) {
    const match = wanted.get(entry.path);
    const isOurs =
      entry.leaves.length > 0 && entry.leaves.every(({ path, value }) => isKtx(base, path, value));
    if (!match && isOurs) gone.push(entry);
    else decideEntry(sides, entry, match);
    wanted.delete(entry.path);
  }
  const isFresh = ({ leaves }: YamlEntry) =>
    leaves.every(({ path, key }) => !identityKeys.has(key) || isKtx(base, path, undefined));
  const fresh = [...wanted.values()].filter(isFresh);
  decisions.removed.push(
    ...[...wanted.values()].filter((entry) => !isFresh(entry)).map(({ path }) => path),
  );
  for (const [path, value] of valuesByPath(fresh)) decisions.base.set(path, [stateOf(value)]);
  if (list !== undefined) decisions.changes.push(...changesOf(list, existing, { gone, fresh }));
}

/** Entry by entry; but a list that begins or ends to exist is one change. */
function changesOf(
  list: EntryList,
  existing: readonly YamlEntry[],
  { gone, fresh }: Record<'gone' | 'fresh', readonly YamlEntry[]>,
): Change[] {
  const removals = gone.map((entry): Change => {
    return {
      edit: { at: entry.at, value: undefined },
      effects: entry.leaves.map(({ path }) => [path, undefined]),
    };
  });
  const additions = fresh.map((entry, position): Change => {
    return {
      edit: { at: [list, existing.length + position], value: toMapping(entry) },
      effects: [...valuesByPath([entry])],
    };
  });
  const changes = [...removals, ...additions];
  const isOneChange = gone.length === existing.length && (gone.length === 0 || fresh.length === 0);
  if (!isOneChange || changes.length === 0) return changes;
  const value = fresh.length === 0 ? undefined : fresh.map(toMapping);
  return [{ edit: { at: [list], value }, effects: changes.flatMap(({ effects }) => effects) }];
}

function decideEntry(sides: Sides, entry: YamlEntry, match: YamlEntry | undefined): void {
  const { base, decisions } = sides;
  const target = match ? withDefinition(sides, entry, match) : leftover(sides, entry);
  const [values, wanted] = [valuesByPath([entry]), valuesByPath([target])];
  for (const [path, key] of new Map(
    [...entry.leaves, ...target.leaves].map((leaf) => [leaf.path, leaf.key]),
  )) {
    const [value, next] = [values.get(path), wanted.get(path)];
    const isSame = stateOf(value) === stateOf(next);
    const states = base.get(path);
    if (isKtx(base, path, value)) {
      if (next !== undefined) decisions.base.set(path, [stateOf(next)]);
      if (!isSame)
        decisions.changes.push({
          edit: { at: [...entry.at, key], value: next },
          effects: [[path, next]],
        });
    } else if (value === undefined) {
      decisions.removed.push(path);
    } else {
      if (!isSame) decisions.kept.push(path);
      if (states) decisions.base.set(path, states);
    }
  }
}

/** What is wanted, but what a person defined is left as they defined it: a metric or a segment, a field with an expression of theirs. */
function withDefinition(
  { base, decisions }: Sides,
  entry: YamlEntry,
  wanted: YamlEntry,
): YamlEntry {
  const values = valuesByPath([entry]);
  const isDefinition = ({ key }: YamlValue) =>
    isWhole(entry) ? !documentation.has(key) : computation.has(key);
  const decides = (leaf: YamlValue) =>
    isDefinition(leaf) && (isWhole(entry) || leaf.key === 'expr');
  const isDefined = [...entry.leaves, ...wanted.leaves].some(
    (leaf) => decides(leaf) && !isKtx(base, leaf.path, values.get(leaf.path)),
  );
  if (!isDefined) return wanted;
  decisions.kept.push(entry.path);
  return {
    ...wanted,
    leaves: [
      ...entry.leaves.filter(isDefinition),
      ...wanted.leaves.filter((leaf) => !isDefinition(leaf)),
    ],
  };
}

/** An entry that the claims no longer have and in which a person wrote: what they wrote stays, and what it needs. */
function leftover({ base, decisions }: Sides, entry: YamlEntry): YamlEntry {
  const isOurs = ({ path, value }: YamlValue) => isKtx(base, path, value);
  const names = entry.leaves.filter(({ key }) => identityKeys.has(key));
  if (names.length > 0 && names.every(isOurs)) decisions.stale.push(entry.path);
  decisions.kept.push(entry.path);
  return {
    ...entry,
    leaves: entry.leaves.filter((leaf) => isWhole(entry) || names.includes(leaf) || !isOurs(leaf)),
  };
}

/** Metrics and segments mean something only as a whole. */
function isWhole({ at }: YamlEntry): boolean {
  return at[0] === 'metrics' || at[0] === 'segments';
}
