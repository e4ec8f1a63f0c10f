import { errorMessage } from '../../lib/error.ts';
import type { Json } from '../../lib/json.ts';
import { readYaml } from '../../lib/yaml/read-yaml.ts';
import type { Dataset } from '../../semantic/model/dataset.ts';
import { editEvidence, subjects, type Claim } from '../claims/claim.ts';
import type { DatasetRef } from '../claims/subject.ts';
import { entrySubject } from './entry-subject.ts';
import { isUnedited, type MergeBase } from './merge-base.ts';
import { mergeEntries, type MergedEntries, type YamlChange } from './merge-entries.ts';
import { adoptEqualUnits } from './three-way.ts';
import { listComments, editYaml } from './yaml-edit.ts';
import { isList, isMapping, yamlFile, type YamlFileContent } from './yaml-text.ts';
import {
  entryLists,
  hashValue,
  keyOrder,
  listEntries,
  toArtifact,
  valuesByPath,
  type YamlEntry,
} from './yaml-values.ts';

interface MergeInput extends DatasetRef {
  /** What the claims say; undefined if they no longer have the dataset. */
  readonly compiled: Dataset | undefined;
  /** The file on disk; undefined if there is none. */
  readonly text: string | undefined;
  /** From the claims file, together with its `edit` claims. */
  readonly base: MergeBase;
  readonly edits: readonly Claim[];
  /** True if another file of a person's declares the dataset. */
  readonly isMoved?: boolean | undefined;
}

export interface MergeResult {
  /**
   * `left_alone`: the file cannot be read or edited; the file, the base and the edits stay as they
   * are.
   */
  readonly outcome: 'unchanged' | 'written' | 'deleted' | 'left_alone';
  /** The new file, with the same bytes if nothing changes; undefined for no file. */
  readonly text: string | undefined;
  /** The base once the file is written. Until then, record `uniteBases(old, base)`. */
  readonly base: MergeBase;
  /**
   * Everything that people took out and that stays out: replaces the `edit` claims of the claims
   * file.
   */
  readonly edits: readonly Claim[];
  /** Paths of people's values and entries that differ from what ktx would write. */
  readonly kept: readonly string[];
  /**
   * Paths of people's edits to entries that the claims no longer have; `dataset` for the whole
   * file.
   */
  readonly stale: readonly string[];
  /** Why the file was left alone. */
  readonly reason?: string;
}

const header = 'Kept current by ktx: what you change here stays yours.';
const notEditable =
  'ktx cannot edit its YAML without touching your changes (it uses anchors, tags or the like)';

/** The path of a dataset's file, relative to the project. */
export function artifactPath(connection: string, dataset: string): string {
  return `semantic-layer/${connection}/${dataset}.yaml`;
}

/**
 * Brings a dataset's file up to date, value by value. Pure. A value that the base records as ktx's
 * is replaced, added or removed. Every other value, every comment and the order of the file keep
 * their bytes.
 */
export function mergeDataset(input: MergeInput): MergeResult {
  const { dataset, text } = input;
  if (text === undefined) return mergeWithoutFile(input);
  const parsed = parseDatasetFile(text);
  if ('reason' in parsed) return leaveAlone(input, parsed.reason);
  const file = listEntries(parsed.mapping);
  const edits = input.edits.filter((edit) => !isPresent(file, removedPath(edit)));
  const base = adoptReturned(input, file);
  const isFileBack = input.edits.some((edit) => removedPath(edit) === '');
  if (isFileBack && !input.compiled) return { ...leaveUnchanged(input), edits };
  // The remains of a dataset that is gone keep its name, so that people can find the file and tell
  // it apart.
  const remains = base.has('dataset') ? { dataset } : {};
  const compiled = withoutPaths(
    listEntries(input.compiled ?? remains),
    new Set(edits.map(removedPath)),
  );
  const merged = mergeEntries({ file, compiled, base });
  // A merge brought the file back that a person has put under another name.
  if (isFileBack && input.isMoved === true && !hasPersonsPart(text, merged))
    return { ...mergeWithoutFile({ ...input, text: undefined }), outcome: 'deleted' };
  if (!input.compiled && base.has('dataset')) {
    if (!hasPersonsPart(text, merged))
      return {
        ...leaveUnchanged(input),
        outcome: 'deleted',
        text: undefined,
        base: new Map(),
        edits,
      };
    merged.stale.push('dataset');
  }
  const removed = merged.removed.map((path) => removalClaim(input, path, compiled));
  return (
    applyChanges({ ...input, text, edits: [...edits, ...removed] }, file, merged) ??
    leaveAlone(input, notEditable)
  );
}

function hasPersonsPart(text: string, { kept }: MergedEntries): boolean {
  return kept.length > 0 || listComments(text).some((comment) => comment !== `# ${header}`);
}

/**
 * True if a person deleted the dataset's whole file. Ask before compiling, so that nothing refers
 * to the dataset any more. It stays true as long as the file is missing; the base stays too, so
 * that a file that comes back is recognized.
 */
export function isFileDeleted({
  text,
  base,
  edits,
}: Pick<MergeInput, 'text' | 'base' | 'edits'>): boolean {
  const isRecorded = edits.some((edit) => removedPath(edit) === '');
  return text === undefined && (isRecorded || !isUnedited(base, 'dataset', null));
}

type ParsedFile = { readonly mapping: YamlFileContent } | { readonly reason: string };

/** An ingest reads each file for its labels, to merge it, and for the search. */
const parsedFiles = new Map<string, ParsedFile>();
const mostParsedFiles = 20_000;

/** The mapping that a dataset's file holds, or why it cannot be read. Parses equal texts once. */
export function parseDatasetFile(text: string): ParsedFile {
  const parsed = parsedFiles.get(text) ?? parseText(text);
  if (parsedFiles.size >= mostParsedFiles) parsedFiles.clear();
  parsedFiles.set(text, parsed);
  return parsed;
}

function parseText(text: string): ParsedFile {
  // A file that could not be read is a lone surrogate, followed by the reason where there is one.
  if (!text.isWellFormed()) return { reason: text.slice(1) || 'it is not valid UTF-8' };
  try {
    const mapping = readYaml(text);
    if (!isMapping(mapping)) return { reason: 'it holds no dataset' };
    const list = entryLists.find(
      (key) => mapping[key] !== undefined && mapping[key] !== null && !isList(mapping[key]),
    );
    return list ? { reason: `\`${list}\` is not a list` } : { mapping };
  } catch (error) {
    return { reason: `it is not valid YAML: ${errorMessage(error).split('\n')[0]}` };
  }
}

/** The path that an `edit` claim records as taken out; '' for the whole dataset. */
export function removedPath(edit: Claim): string {
  return edit.evidence[0]?.location ?? '';
}

/** What people took out stays out when the file, or the table, comes back. */
function mergeWithoutFile(input: MergeInput): MergeResult {
  const edits = input.edits.filter((edit) => removedPath(edit) !== '');
  if (input.isMoved === true || isFileDeleted(input))
    return { ...leaveUnchanged(input), edits: [...edits, removalClaim(input, '', [])] };
  if (!input.compiled) return { ...leaveUnchanged(input), base: new Map(), edits };
  const entries = withoutPaths(listEntries(input.compiled), new Set(edits.map(removedPath)));
  const base = new Map(
    [...valuesByPath(entries)].map(([path, value]) => [path, [hashValue(value)]]),
  );
  const text = yamlFile(header, toArtifact(entries));
  return { ...leaveUnchanged(input), outcome: 'written', text, base, edits };
}

/**
 * The base in which a value that a person took out and put back as ktx would write it counts as
 * ktx's again.
 */
function adoptReturned(
  { base, edits, compiled }: MergeInput,
  file: readonly YamlEntry[],
): MergeBase {
  const removedPaths = edits.map(removedPath);
  const sides = {
    file: valuesByPath(file),
    compiled: valuesByPath(listEntries(compiled ?? {})),
    base,
    hash: (value: Json) => hashValue(value),
    isAdopted: (path: string) =>
      removedPaths.some((removed) => path === removed || path.startsWith(`${removed}.`)),
  };
  return adoptEqualUnits(sides);
}

function leaveUnchanged({ text, base, edits }: MergeInput): MergeResult {
  return { outcome: 'unchanged', text, base, edits, kept: [], stale: [] };
}

function leaveAlone(input: MergeInput, reason: string): MergeResult {
  return { ...leaveUnchanged(input), outcome: 'left_alone', reason };
}

/**
 * Undefined if the text cannot be edited as decided. A change that would take a comment with it is
 * not made.
 */
function applyChanges(
  input: MergeInput & { readonly text: string },
  file: readonly YamlEntry[],
  { changes, base, kept, stale }: MergedEntries,
): MergeResult | undefined {
  const edits = changes.map(({ edit }) => edit);
  const { text, refused } = editYaml(input.text, edits, keyOrder);
  const isRefused = ({ edit }: YamlChange) => refused.includes(edit);
  const made = changes.filter((change) => !isRefused(change));
  const expected = new Map([...valuesByPath(file), ...made.flatMap(({ effects }) => effects)]);
  if (!holdsExactly(text, input.text, expected)) return undefined;
  for (const [path] of changes.filter(isRefused).flatMap(({ effects }) => effects)) {
    base.set(path, input.base.get(path) ?? [null]);
    kept.push(path);
  }
  const outcome = text === input.text ? 'unchanged' : 'written';
  return { outcome, text, base, edits: input.edits, kept, stale };
}

/**
 * True if the edited text holds the expected values and nothing else, and every comment that was
 * there before.
 */
function holdsExactly(
  text: string,
  before: string,
  expected: ReadonlyMap<string, Json | undefined>,
): boolean {
  if (text === before) return true;
  const parsed = parseDatasetFile(text);
  if ('reason' in parsed) return false;
  const actual = valuesByPath(listEntries(parsed.mapping));
  const paths = new Set([...actual.keys(), ...expected.keys()]);
  const comments = new Set(listComments(text));
  return (
    [...paths].every((path) => hashValue(actual.get(path)) === hashValue(expected.get(path))) &&
    listComments(before).every((comment) => comments.has(comment))
  );
}

/** True if an entry or a value has the path. */
function isPresent(entries: readonly YamlEntry[], path: string): boolean {
  return entries.some(
    (entry) => entry.path === path || entry.values.some((value) => value.path === path),
  );
}

function withoutPaths(entries: readonly YamlEntry[], paths: ReadonlySet<string>): YamlEntry[] {
  const isKept = ({ path }: { readonly path: string }) => !paths.has(path);
  return entries.filter(isKept).map((entry) => ({ ...entry, values: entry.values.filter(isKept) }));
}

function removalClaim(
  { connection, dataset }: DatasetRef,
  path: string,
  compiled: readonly YamlEntry[],
): Claim {
  const entry = compiled.find((candidate) => isPresent([candidate], path));
  const key = path === (entry?.path ?? '') ? undefined : path.slice(path.lastIndexOf('.') + 1);
  const item = artifactPath(connection, dataset);
  const place = path === '' ? { item } : { item, location: path };
  return {
    subject: entry
      ? entrySubject({ connection, dataset }, entry)
      : subjects.dataset(connection, dataset),
    kind: 'edit',
    body: key === undefined ? null : { [key]: null },
    evidence: [editEvidence(connection, place)],
  };
}
