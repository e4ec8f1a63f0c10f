import { CORE_SCHEMA, load } from 'js-yaml';
import { errorMessage } from '../../lib/error.ts';
import type { Json } from '../../lib/json.ts';
import type { Dataset } from '../../semantic/model/dataset.ts';
import { subjects, type Claim } from '../claims/claim.ts';
import type { MergeBase } from '../claims/claims-file.ts';
import { decide, isKtx, stateOf, type Change, type Decisions } from './three-way.ts';
import {
  toArtifact,
  entryLists,
  keyOrder,
  valuesByPath,
  listEntries,
  type YamlEntry,
} from './yaml-values.ts';
import { entrySubject, type DatasetRef } from '../claims/subject.ts';
import { commentsOf, editYaml } from './yaml-edit.ts';
import { isList, isMapping, yamlFile, type YamlMapping } from './yaml-text.ts';

interface MergeInput extends DatasetRef {
  /** What the claims say; undefined where the dataset is gone. */
  readonly compiled: Dataset | undefined;
  /** The file as it stands; undefined where there is none. */
  readonly text: string | undefined;
  /** From the claims file, with the `edit` claims in it. */
  readonly base: MergeBase;
  readonly edits: readonly Claim[];
}

export interface MergeResult {
  /** `left_alone`: the file cannot be read or edited as it is; nothing of it, of the base, of the edits changes. */
  readonly outcome: 'unchanged' | 'written' | 'deleted' | 'left_alone';
  /** The file as it shall be; undefined where there shall be none. The same bytes where nothing changes. */
  readonly text: string | undefined;
  /** The base once the file is written; until then `eitherBase(old, base)`. */
  readonly base: MergeBase;
  /** All that people took out and that stays out: replaces the `edit` claims of the claims file. */
  readonly edits: readonly Claim[];
  /** Paths of people's values and entries, where they differ from what ktx would have there. */
  readonly kept: readonly string[];
  /** Paths of people's leftovers of what is gone from the claims; `dataset` for the whole. */
  readonly stale: readonly string[];
  /** Why the file was left alone. */
  readonly reason?: string;
}

const header = 'Kept current by ktx: what you change here stays yours.';
const unusual =
  'its YAML has a shape that ktx cannot edit without touching what is yours (anchors, tags or the like)';

/** The path of a dataset's artifact, relative to the project. */
export function artifactPath(connection: string, dataset: string): string {
  return `semantic-layer/${connection}/${dataset}.yaml`;
}

/**
 * Brings a dataset's file up to date value by value. Pure. A value that the base knows as ktx's is replaced, added or
 * removed; whatever is not, every comment, and the order that stands, keep their bytes.
 */
export function mergeDataset(input: MergeInput): MergeResult {
  const { dataset, text } = input;
  if (text === undefined) return withoutFile(input);
  const parsed = parseDatasetFile(text);
  if ('reason' in parsed) return leftAlone(input, parsed.reason);
  const file = listEntries(parsed.mapping);
  const edits = input.edits.filter((edit) => !isPresent(file, removedPath(edit)));
  const base = withReturned(input, file);
  const isBack = input.edits.some((edit) => removedPath(edit) === '');
  if (isBack && !input.compiled) return { ...asItStands(input), edits };
  // What is left of a dataset that is gone stays a dataset by name, so that it can be found and told apart.
  const leftover = base.has('dataset') ? { dataset } : {};
  const compiled = without(
    listEntries(input.compiled ?? leftover),
    new Set(edits.map(removedPath)),
  );
  const decisions = decide(file, compiled, base);
  if (!input.compiled && base.has('dataset')) {
    const isTheirs =
      decisions.kept.length > 0 || commentsOf(text).some((comment) => comment !== `# ${header}`);
    if (!isTheirs)
      return { ...asItStands(input), outcome: 'deleted', text: undefined, base: new Map(), edits };
    decisions.stale.push('dataset');
  }
  const removed = decisions.removed.map((path) => removalClaim(input, path, compiled));
  return (
    applied({ ...input, text, edits: [...edits, ...removed] }, file, decisions) ??
    leftAlone(input, unusual)
  );
}

/**
 * True where a person deleted the dataset's whole file. To be asked before compiling, so that nothing refers to it any
 * more; it holds as long as the file is missing, and the base stays, so that a file that comes back is known.
 */
export function isFileDeleted({ text, base }: Pick<MergeInput, 'text' | 'base'>): boolean {
  return text === undefined && !isKtx(base, 'dataset', undefined);
}

/** The mapping that a dataset's file holds, or why it cannot be read. */
export function parseDatasetFile(text: string): { mapping: YamlMapping } | { reason: string } {
  // A surrogate of its own stands where a file cannot be read; the reason may follow.
  if (!text.isWellFormed()) return { reason: text.slice(1) || 'it is not valid UTF-8' };
  try {
    const mapping = load(text, { schema: CORE_SCHEMA });
    if (!isMapping(mapping)) return { reason: 'it holds no dataset' };
    const list = entryLists.find(
      (key) => mapping[key] !== undefined && mapping[key] !== null && !isList(mapping[key]),
    );
    return list ? { reason: `\`${list}\` is not a list` } : { mapping };
  } catch (error) {
    return { reason: `it is not valid YAML: ${errorMessage(error).split('\n')[0]}` };
  }
}

/** The base with what a person took out and put back as ktx would have it: that is ktx's again. */
function withReturned(
  { base, edits, compiled }: MergeInput,
  file: readonly YamlEntry[],
): MergeBase {
  const paths = edits.map(removedPath);
  const wanted = valuesByPath(listEntries(compiled ?? {}));
  const isReturned = ([path, value]: readonly [string, Json]) =>
    paths.some((one) => path === one || path.startsWith(`${one}.`)) &&
    stateOf(value) === stateOf(wanted.get(path));
  const returned = [...valuesByPath(file)]
    .filter(isReturned)
    .map(([path, value]) => [path, [stateOf(value)]] as const);
  return new Map([...base, ...returned]);
}

function asItStands({ text, base, edits }: MergeInput): MergeResult {
  return { outcome: 'unchanged', text, base, edits, kept: [], stale: [] };
}

function leftAlone(input: MergeInput, reason: string): MergeResult {
  return { ...asItStands(input), outcome: 'left_alone', reason };
}

/** What was taken out before stays out when the file, or the table, comes back. */
function withoutFile(input: MergeInput): MergeResult {
  const edits = input.edits.filter((edit) => removedPath(edit) !== '');
  if (isFileDeleted(input))
    return { ...asItStands(input), edits: [...edits, removalClaim(input, '', [])] };
  if (!input.compiled) return { ...asItStands(input), base: new Map(), edits };
  const wanted = without(listEntries(input.compiled), new Set(edits.map(removedPath)));
  const base = new Map([...valuesByPath(wanted)].map(([path, value]) => [path, [stateOf(value)]]));
  return {
    ...asItStands(input),
    outcome: 'written',
    text: yamlFile(header, toArtifact(wanted)),
    base,
    edits,
  };
}

/** Undefined where the text cannot be edited as decided. What could not be done without taking a comment out is kept. */
function applied(
  input: MergeInput & { readonly text: string },
  file: readonly YamlEntry[],
  decisions: Decisions,
): MergeResult | undefined {
  const { changes, base, kept, stale } = decisions;
  const wanted = changes.map(({ edit }) => edit);
  const { text, refused } = editYaml(input.text, wanted, keyOrder);
  const isRefused = ({ edit }: Change) => refused.includes(edit);
  const done = changes.filter((change) => !isRefused(change));
  const expected = new Map([...valuesByPath(file), ...done.flatMap(({ effects }) => effects)]);
  if (!isAsDecided(text, input.text, expected)) return undefined;
  for (const [path] of changes.filter(isRefused).flatMap(({ effects }) => effects)) {
    base.set(path, input.base.get(path) ?? [null]);
    kept.push(path);
  }
  return {
    outcome: text === input.text ? 'unchanged' : 'written',
    text,
    base,
    edits: input.edits,
    kept,
    stale,
  };
}

/** True where the edited text holds exactly what is expected, and every comment that was there before. */
function isAsDecided(
  text: string,
  before: string,
  expected: ReadonlyMap<string, Json | undefined>,
): boolean {
  if (text === before) return true;
  const parsed = parseDatasetFile(text);
  if ('reason' in parsed) return false;
  const actual = valuesByPath(listEntries(parsed.mapping));
  const paths = new Set([...actual.keys(), ...expected.keys()]);
  const comments = new Set(commentsOf(text));
  return (
    [...paths].every((path) => stateOf(actual.get(path)) === stateOf(expected.get(path))) &&
    commentsOf(before).every((comment) => comments.has(comment))
  );
}

/** The path of what an `edit` claim says a person took out; '' for the whole dataset. */
export function removedPath(edit: Claim): string {
  return edit.evidence[0]?.location ?? '';
}

function isPresent(file: readonly YamlEntry[], path: string): boolean {
  return file.some(
    (entry) => entry.path === path || entry.leaves.some((leaf) => leaf.path === path),
  );
}

function without(compiled: readonly YamlEntry[], paths: ReadonlySet<string>): YamlEntry[] {
  const stays = ({ path }: { readonly path: string }) => !paths.has(path);
  return compiled.filter(stays).map((entry) => ({ ...entry, leaves: entry.leaves.filter(stays) }));
}

function removalClaim(
  { connection, dataset }: DatasetRef,
  path: string,
  compiled: readonly YamlEntry[],
): Claim {
  const entry = compiled.find((one) => isPresent([one], path));
  const key = path === (entry?.path ?? '') ? undefined : path.slice(path.lastIndexOf('.') + 1);
  const place = {
    item: artifactPath(connection, dataset),
    ...(path === '' ? {} : { location: path }),
  };
  return {
    subject: entry
      ? entrySubject({ connection, dataset }, entry)
      : subjects.dataset(connection, dataset),
    kind: 'edit',
    body: key === undefined ? null : { [key]: null },
    evidence: [{ connection, origin: 'person', extractor: 'edit@1', ...place, confidence: 1 }],
  };
}
