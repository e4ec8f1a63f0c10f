import { shortHash } from '../lib/hash.ts';
import { canonicalJson, type Json } from '../lib/json.ts';
import type { MergeBase } from './claims-file.ts';
import { entryLists, type Entry, type EntryList, type Leaf, type Outline } from './leaves.ts';
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
  readonly file: Outline;
  readonly compiled: Outline;
  readonly base: MergeBase;
  readonly decisions: Decisions;
}

/** Whoever writes one of these in a metric or a segment, owns its definition. */
const documentation = new Set(['description', 'synonyms', 'hidden', 'unit']);

/**
 * Decides value by value what ktx may change: a value in the state that the base records is ktx's, any other is the
 * person's; what the base records and the file has not, the person took out. `dataset` itself is decided by the caller.
 */
export function decide(file: Outline, compiled: Outline, base: MergeBase): Decisions {
  const decisions: Decisions = { changes: [], base: new Map(), kept: [], removed: [], stale: [] };
  const sides = { file, compiled, base, decisions };
  for (const [leaf, wanted] of paired(file.top, compiled.top)) decideLeaf(sides, { leaf, wanted, at: {} });
  for (const list of entryLists) decideList(sides, list);
  return decisions;
}

/** The state of a value as the base records it. */
export function stateOf(value: Json | undefined): string | null {
  return value === undefined ? null : shortHash(canonicalJson(value), 8);
}

interface LeafCase {
  readonly leaf: Leaf | undefined;
  readonly wanted: Leaf | undefined;
  readonly at: { readonly list?: string; readonly index?: number };
}

function decideLeaf({ base, decisions }: Sides, { leaf, wanted, at }: LeafCase): void {
  const { path, key } = leaf ?? wanted ?? { path: '', key: '' };
  if (isKtx(base, path, leaf?.value)) {
    if (wanted) decisions.base.set(path, [stateOf(wanted.value)]);
    if (stateOf(leaf?.value) === stateOf(wanted?.value)) return;
    const effects = [[path, wanted?.value] as const];
    if (!wanted) decisions.changes.push({ edit: { kind: 'delete', ...at, key }, effects });
    else decisions.changes.push({ edit: { kind: leaf ? 'set' : 'add', ...at, key, value: wanted.value }, effects });
  } else if (leaf) {
    if (stateOf(leaf.value) !== stateOf(wanted?.value)) decisions.kept.push(path);
    carry(base, decisions, path);
  } else decisions.removed.push(path);
}

function decideList(sides: Sides, list: EntryList): void {
  const { base, decisions } = sides;
  const existing = sides.file.entries.filter((entry) => entry.list === list);
  const wanted = sides.compiled.entries.filter((entry) => entry.list === list);
  const known = new Set(existing.map(({ path }) => path));
  const wantedByPath = new Map(wanted.map((entry) => [entry.path, entry]));
  const missing = wanted.filter(({ path }) => !known.has(path));
  const fresh = missing.filter(({ path, identity }) => isKtx(base, `${path}.${identity}`, undefined));
  decisions.removed.push(...missing.filter((entry) => !fresh.includes(entry)).map(({ path }) => path));
  for (const entry of fresh) for (const { path, value } of entry.leaves) decisions.base.set(path, [stateOf(value)]);
  const gone: Entry[] = [];
  for (const entry of existing) {
    const match = wantedByPath.get(entry.path);
    if (match) decideEntry(sides, entry, match);
    else if (!decideUnwanted(sides, entry)) gone.push(entry);
  }
  const effects = gone.map((entry) => entry.leaves.map(({ path }) => [path, undefined] as const));
  if (gone.length > 0 && gone.length === existing.length && fresh.length === 0) {
    decisions.changes.push({ edit: { kind: 'delete', key: list }, effects: effects.flat() });
  } else {
    for (const [position, { index }] of gone.entries()) decisions.changes.push({ edit: { kind: 'remove', list, index }, effects: effects[position] ?? [] }); // prettier-ignore
  }
  if (fresh.length === 0) return;
  const value = fresh.map((entry) => entry.value);
  const added = fresh.flatMap(({ leaves }) => leaves.map((leaf) => [leaf.path, leaf.value] as const));
  const hasKey = sides.file.lists.has(list);
  const edit: YamlEdit = existing.length > 0 ? { kind: 'append', list, entries: value } : { kind: hasKey ? 'set' : 'add', key: list, value }; // prettier-ignore
  decisions.changes.push({ edit, effects: added });
}

function decideEntry(sides: Sides, entry: Entry, wanted: Entry): void {
  const { base, decisions } = sides;
  const at = { list: entry.list, index: entry.index };
  const pairs = paired(entry.leaves, wanted.leaves);
  const isDefinition = (leaf: Leaf | undefined) => leaf !== undefined && isWhole(entry) && !documentation.has(leaf.key);
  const frozen = pairs.some(([leaf, other]) => isDefinition(leaf ?? other) && !isKtx(base, (leaf ?? other)?.path ?? '', leaf?.value));
  if (frozen) decisions.kept.push(entry.path);
  for (const [leaf, other] of pairs) {
    if (!frozen || !isDefinition(leaf ?? other)) decideLeaf(sides, { leaf, wanted: other, at });
    else carry(base, decisions, (leaf ?? other)?.path ?? '');
  }
}

/** False where nothing in the entry is the person's, so that it goes as a whole. */
function decideUnwanted(sides: Sides, entry: Entry): boolean {
  const { base, decisions } = sides;
  const isOurs = (leaf: Leaf) => isKtx(base, leaf.path, leaf.value);
  if (entry.leaves.length > 0 && entry.leaves.every(isOurs)) return false;
  const isIdentity = ({ key }: Leaf) => key === entry.identity;
  const theirs = entry.leaves.find((leaf) => isIdentity(leaf) && isOurs(leaf)) === undefined;
  if (!theirs) decisions.stale.push(entry.path);
  decisions.kept.push(entry.path);
  for (const leaf of entry.leaves) {
    if (isOurs(leaf) && !isIdentity(leaf) && !isWhole(entry)) decideLeaf(sides, { leaf, wanted: undefined, at: entry });
    else carry(base, decisions, leaf.path);
  }
  return true;
}

/** Metrics and segments mean something only as a whole. */
function isWhole({ list }: Entry): boolean {
  return list === 'metrics' || list === 'segments';
}

function carry(base: MergeBase, decisions: Decisions, path: string): void {
  const states = base.get(path);
  if (states) decisions.base.set(path, states);
}

export function isKtx(base: MergeBase, path: string, value: Json | undefined): boolean {
  return (base.get(path) ?? [null]).includes(stateOf(value));
}

function paired(file: readonly Leaf[], compiled: readonly Leaf[]): [Leaf | undefined, Leaf | undefined][] {
  const wanted = new Map(compiled.map((leaf) => [leaf.path, leaf]));
  const present = new Set(file.map(({ path }) => path));
  return [
    ...file.map((leaf): [Leaf, Leaf | undefined] => [leaf, wanted.get(leaf.path)]),
    ...compiled.filter(({ path }) => !present.has(path)).map((leaf): [undefined, Leaf] => [undefined, leaf]),
  ];
}
