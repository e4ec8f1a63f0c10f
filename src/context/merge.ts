import { CORE_SCHEMA, load } from 'js-yaml';
import { messageOf } from '../lib/error.ts';
import type { Json } from '../lib/json.ts';
import type { Dataset } from '../semantic/dataset.ts';
import { subjects, type Claim } from './claim.ts';
import type { MergeBase } from './claims-file.ts';
import { decide, isKtx, stateOf, type Change, type Decisions } from './decide.ts';
import { entryLists, keyOrder, leavesOf, outline, type Outline } from './leaves.ts';
import { entrySubject, type Owner } from './subject.ts';
import { commentsOf, editYaml } from './yaml-edit.ts';
import { isList, isMapping, yamlFile, type YamlMapping } from './yaml-text.ts';

export interface MergeInput {
  readonly connection: string;
  readonly dataset: string;
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

/** The path of a dataset's artifact, relative to the project. */
export function artifactPath(connection: string, dataset: string): string {
  return `semantic-layer/${connection}/${dataset}.yaml`;
}

/**
 * Brings a dataset's file up to date value by value. Pure. A value that the base knows as ktx's is replaced, added or
 * removed; whatever is not, every comment, and the order that stands, keep their bytes.
 */
export function mergeDataset(input: MergeInput): MergeResult {
  if (input.text === undefined) return withoutFile(input);
  const parsed = parseArtifact(input.text);
  if ('reason' in parsed) return leftAlone(input, parsed.reason);
  const file = outline(parsed.mapping);
  const edits = input.edits.filter((edit) => !isPresent(file, pathOf(edit)));
  const compiled = without(outline(input.compiled ?? {}), new Set(edits.map(pathOf)));
  const decisions = decide(file, compiled, input.base);
  if (!input.compiled && input.base.size > 0) {
    const isTheirs = decisions.kept.length > 0 || commentsOf(input.text).some((comment) => comment !== `# ${header}`);
    if (!isTheirs) return { outcome: 'deleted', text: undefined, base: new Map(), edits: [], kept: [], stale: [] };
    keepName(decisions, input.base);
  }
  return applied(input, { file, compiled, decisions, edits });
}

/** The claim that a person deleted the dataset's whole file; made before compiling, so that nothing refers to it any more. */
export function removedDataset({ connection, dataset, text, base }: Omit<MergeInput, 'compiled' | 'edits'>): Claim | undefined {
  if (text !== undefined || isKtx(base, 'dataset', undefined)) return undefined;
  return editClaim({ connection, dataset }, { subject: subjects.dataset(connection, dataset), body: null, path: '' });
}

function withoutFile(input: MergeInput): MergeResult {
  const removal = removedDataset(input);
  const none = { text: undefined, kept: [], stale: [] };
  if (removal || !input.compiled) {
    return { ...none, outcome: 'unchanged', base: new Map(), edits: removal ? [removal] : input.edits };
  }
  const base = new Map([...leavesOf(outline(input.compiled))].map(([path, value]) => [path, [stateOf(value)]]));
  return { ...none, outcome: 'written', text: yamlFile(header, input.compiled), base, edits: [] };
}

/** The mapping that a dataset's file holds, or why it cannot be read. */
export function parseArtifact(text: string): { mapping: YamlMapping } | { reason: string } {
  try {
    const mapping = load(text, { schema: CORE_SCHEMA });
    if (!isMapping(mapping)) return { reason: 'it holds no dataset' };
    const list = entryLists.find((key) => mapping[key] !== undefined && mapping[key] !== null && !isList(mapping[key]));
    return list ? { reason: `\`${list}\` is not a list` } : { mapping };
  } catch (error) {
    return { reason: `it is not valid YAML: ${messageOf(error).split('\n')[0]}` };
  }
}

interface Merge {
  readonly file: Outline;
  readonly compiled: Outline;
  readonly decisions: Decisions;
  /** Earlier removals that still hold. */
  readonly edits: readonly Claim[];
}

function applied(input: MergeInput, { file, compiled, decisions, edits }: Merge): MergeResult {
  const text = input.text ?? '';
  const { changes, kept, stale } = decisions;
  const removed = decisions.removed.map((path) => removalClaim(input, compiled, path));
  const result = { kept, stale, edits: [...edits, ...removed], base: decisions.base };
  if (changes.length === 0) return { ...result, outcome: 'unchanged', text };
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const edited = editYaml(text.slice(mark.length), changes.map(({ edit }) => edit), keyOrder); // prettier-ignore
  const refused = changes.filter(({ edit }) => edited.refused.includes(edit));
  if (refused.some(({ edit }) => edit.kind === 'add' || edit.kind === 'append')) return leftAlone(input, unusual);
  const done = changes.filter((change) => !refused.includes(change));
  if (!isAsDecided(mark + edited.text, { text, file, done })) return leftAlone(input, unusual);
  for (const path of refused.flatMap(({ effects }) => effects.map(([one]) => one))) {
    const states = input.base.get(path);
    if (states) decisions.base.set(path, states);
    kept.push(path);
  }
  return { ...result, outcome: done.length > 0 ? 'written' : 'unchanged', text: mark + edited.text };
}

const unusual = 'its YAML has a shape that ktx cannot edit without touching what is yours (anchors, tags or the like)';

function leftAlone({ text, base, edits }: MergeInput, reason: string): MergeResult {
  return { outcome: 'left_alone', text, base, edits, kept: [], stale: [], reason };
}

/** What is left of a dataset that is gone stays a dataset by name, so that it can be found and told apart. */
function keepName({ changes, base, stale }: Decisions, old: MergeBase): void {
  const at = changes.findIndex(({ edit }) => edit.kind === 'delete' && edit.list === undefined && edit.key === 'dataset');
  if (at >= 0) changes.splice(at, 1);
  const states = old.get('dataset');
  if (states) base.set('dataset', states);
  if (states) stale.push('dataset');
}

/** True where the edited text reads as the old one with the changes, and has every comment of it. */
function isAsDecided(text: string, { text: before, file, done }: { text: string; file: Outline; done: readonly Change[] }): boolean {
  const parsed = parseArtifact(text);
  if ('reason' in parsed) return false;
  const expected = leavesOf(file);
  for (const [path, value] of done.flatMap(({ effects }) => effects)) {
    if (value === undefined) expected.delete(path);
    else expected.set(path, value);
  }
  const actual = leavesOf(outline(parsed.mapping));
  const comments = new Set(commentsOf(text));
  return (
    actual.size === expected.size &&
    [...expected].every(([path, value]) => stateOf(actual.get(path)) === stateOf(value)) &&
    commentsOf(before).every((comment) => comments.has(comment))
  );
}

function pathOf(edit: Claim): string {
  return edit.evidence[0]?.location ?? '';
}

function isPresent({ top, entries }: Outline, path: string): boolean {
  return path === '' || [...top, ...entries, ...entries.flatMap(({ leaves }) => leaves)].some((one) => one.path === path);
}

function without({ top, lists, entries }: Outline, paths: ReadonlySet<string>): Outline {
  const stays = ({ path }: { path: string }) => !paths.has(path);
  const left = entries.filter(stays).map((entry) => ({ ...entry, leaves: entry.leaves.filter(stays) }));
  return { top: top.filter(stays), lists, entries: left };
}

function removalClaim({ connection, dataset }: MergeInput, compiled: Outline, path: string): Claim {
  const entry = compiled.entries.find((one) => one.path === path || one.leaves.some((leaf) => leaf.path === path));
  const isWhole = path === entry?.path && entry.list !== 'segments';
  const subject = entry ? entrySubject({ connection, dataset }, entry) : subjects.dataset(connection, dataset);
  return editClaim({ connection, dataset }, { subject, body: isWhole ? null : { [path.slice(path.lastIndexOf('.') + 1)]: null }, path });
}

function editClaim({ connection, dataset }: Owner, { subject, body, path }: { subject: string; body: Json; path: string }): Claim {
  const place = { item: artifactPath(connection, dataset), ...(path === '' ? {} : { location: path }) };
  return {
    subject,
    kind: 'edit',
    body,
    evidence: [{ connection, origin: 'person', extractor: 'edit@1', ...place, confidence: 1 }],
  };
}
