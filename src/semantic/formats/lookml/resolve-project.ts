import { errorMessage, UserError } from '../../../lib/error.ts';
import {
  blocksWithKey,
  isBlock,
  type LookmlBlock,
  type LookmlEntry,
  type LookmlPlace,
  parseLookml,
  textProperty,
} from './parse.ts';

export interface LookmlFile {
  readonly file: string;
  readonly text: string;
}

/** The views and explores of a project after constants, refinements and extensions. */
export interface LookmlProject {
  readonly views: readonly LookmlBlock[];
  readonly explores: readonly LookmlBlock[];
  /** Everything else at the top of a file. */
  readonly others: readonly LookmlEntry[];
  /** Names that several views have; none of these views is sure to be meant. */
  readonly ambiguous: ReadonlySet<string>;
}

type AddFault = (entry: Pick<LookmlEntry, 'key' | 'name' | 'place'>, message: string) => void;

interface LookmlProjectOptions {
  /** Values that win over those of the manifest. */
  readonly constants?: Readonly<Record<string, string>> | undefined;
  readonly addFault: AddFault;
}

/** A file that is no LookML is left out with the line of its fault; the others are read. */
export function resolveProject(
  files: readonly LookmlFile[],
  { constants = {}, addFault }: LookmlProjectOptions,
): LookmlProject {
  const parsed = files.flatMap(({ file, text }) => parseOrReport(file, text, addFault));
  const values = new Map([
    ...blocksWithKey(parsed, 'constant').map(
      (block) => [block.name, textProperty(block, 'value') ?? ''] as const,
    ),
    ...Object.entries(constants),
  ]);
  const entries = values.size === 0 ? parsed : parsed.map((entry) => withConstants(entry, values));
  const views = resolveBlocks('view', entries, addFault);
  const explores = resolveBlocks('explore', entries, addFault);
  return {
    views: views.blocks,
    explores: explores.blocks,
    others: entries.filter(({ key }) => !['view', 'explore', 'constant'].includes(key)),
    ambiguous: views.ambiguous,
  };
}

function parseOrReport(file: string, text: string, addFault: AddFault): readonly LookmlEntry[] {
  try {
    return parseLookml(text, file);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const message = errorMessage(error);
    const line = Number(/in line (\d+)/.exec(message)?.[1] ?? 1);
    addFault({ key: 'file', name: file, place: { file, line } }, `left out: ${message}`);
    return [];
  }
}

/** In characters. What is longer would only fill the memory. */
const longestText = 1_000_000;

/** A text that would become too long stays as it is. */
function replaceConstants(text: string, values: ReadonlyMap<string, string>): string {
  const pattern = /@\{(\w+)\}/g;
  const added = text
    .matchAll(pattern)
    .reduce((length, [, name = '']) => length + (values.get(name)?.length ?? 0), 0);
  if (added > longestText) return text;
  return text.replaceAll(pattern, (written, name: string) => values.get(name) ?? written);
}

function withConstants(entry: LookmlEntry, values: ReadonlyMap<string, string>): LookmlEntry {
  const replace = (text: string) => replaceConstants(text, values);
  const { value } = entry;
  if (typeof value === 'string') return { ...entry, value: replace(value) };
  if (isBlock(entry))
    return { ...entry, value: entry.value.map((member) => withConstants(member, values)) };
  const texts = value.filter((member): member is string => typeof member === 'string');
  return { ...entry, value: texts.map(replace) };
}

interface Definitions {
  readonly kind: 'view' | 'explore';
  readonly bases: ReadonlyMap<string, LookmlBlock>;
  readonly refinements: ReadonlyMap<string, readonly LookmlBlock[]>;
  readonly resolved: Map<string, LookmlBlock | undefined>;
  readonly addFault: AddFault;
}

function resolveBlocks(
  kind: 'view' | 'explore',
  entries: readonly LookmlEntry[],
  addFault: AddFault,
): { readonly blocks: readonly LookmlBlock[]; readonly ambiguous: ReadonlySet<string> } {
  const all = blocksWithKey(entries, kind);
  const bases = new Map<string, LookmlBlock>();
  const ambiguous = new Set<string>();
  for (const block of all.filter(({ name }) => !name.startsWith('+'))) {
    const first = bases.get(block.name);
    if (first === undefined) bases.set(block.name, block);
    else if (!isSameCode(first, block)) {
      ambiguous.add(block.name);
      addFault(block, `left out: ${placeText(first.place)} has another ${kind} of that name`);
    }
  }
  const refinements = Map.groupBy(
    all.filter(({ name }) => name.startsWith('+')),
    ({ name }) => name.slice(1),
  );
  for (const [name, blocks] of refinements)
    if (!bases.has(name))
      for (const block of blocks)
        addFault(block, `left out: there is no ${kind} ${name} in these files`);
  const definitions = { kind, bases, refinements, resolved: new Map(), addFault };
  const blocks = [...bases.values()].flatMap((base) => {
    const block = resolveBlock(base.name, definitions, []);
    return block === undefined || textProperty(block, 'extension') === 'required' ? [] : [block];
  });
  return { blocks, ambiguous };
}

/** True for blocks that differ in nothing but their place. */
function isSameCode(a: LookmlBlock, b: LookmlBlock): boolean {
  const code = (block: LookmlBlock) =>
    JSON.stringify(block, (key, value: unknown) => (key === 'place' ? undefined : value));
  return code(a) === code(b);
}

function placeText({ file, line }: LookmlPlace): string {
  return `${file}:${line}`;
}

/** People extend views three times over; more would only fill the memory. */
const longestExtension = 30;
const mostRefinements = 200;
const mostMembers = 20_000;

/** Refinements come before extensions, as in Looker. Undefined for what is left out. */
function resolveBlock(
  name: string,
  definitions: Definitions,
  path: readonly string[],
): LookmlBlock | undefined {
  const { kind, bases, refinements, resolved, addFault } = definitions;
  if (resolved.has(name)) return resolved.get(name);
  const base = bases.get(name);
  if (base === undefined) return undefined;
  if (path.includes(name) || path.length > longestExtension) {
    addFault(base, `left out: it extends itself: ${[...path, name].join(' → ')}`);
    return undefined;
  }
  const refining = refinements.get(name) ?? [];
  const [tooMany] = refining.slice(mostRefinements);
  if (tooMany !== undefined)
    addFault(tooMany, `left out: ${name} is refined more than ${mostRefinements} times`);
  const own = refining
    .slice(0, mostRefinements)
    .reduce<readonly LookmlEntry[]>(
      (members, refinement) => mergeMembers(members, refinement.value),
      base.value,
    );
  let inherited: readonly LookmlEntry[] = [];
  for (const parentName of own.filter(isExtends).flatMap(({ value }) => [value].flat())) {
    if (typeof parentName !== 'string') continue;
    const parent = resolveBlock(parentName, definitions, [...path, name]);
    if (parent === undefined)
      addFault(base, `not read: the ${kind} ${parentName} that it extends, which is not here`);
    else inherited = mergeMembers(inherited, parent.value.filter(isInherited));
  }
  const value = mergeMembers(inherited, own);
  const block = value.length > mostMembers ? undefined : { ...base, value };
  if (block === undefined) addFault(base, `left out: it has more than ${mostMembers} members`);
  resolved.set(name, block);
  return block;
}

function isExtends({ key }: LookmlEntry): boolean {
  return key === 'extends' || key === 'extends__all';
}

function isInherited(entry: LookmlEntry): boolean {
  return !isExtends(entry) && entry.key !== 'extension';
}

/** Keys of which an object may have several. */
const repeatedKeys = ['link', 'action', 'access_filter', 'when', 'allowed_value'];
/** Keys that say where the rows of a view come from: one takes the place of the other. */
const tableKeys = ['sql_table_name', 'derived_table'];
export const contestedFilters = 'contested_filters';

/** The members of one object, with those of a later one over them. */
function mergeMembers(
  base: readonly LookmlEntry[],
  over: readonly LookmlEntry[],
): readonly LookmlEntry[] {
  const idOf = ({ key, name }: LookmlEntry) => `${key} ${name}`;
  const overById = new Map(over.map((entry) => [idOf(entry), entry]));
  const baseIds = new Set(base.map(idOf));
  const replacesTable = over.some(({ key }) => tableKeys.includes(key));
  const kept = base.flatMap((entry): readonly LookmlEntry[] => {
    if (replacesTable && tableKeys.includes(entry.key)) return [];
    const later = overById.get(idOf(entry));
    if (later === undefined || repeatedKeys.includes(entry.key)) return [entry];
    if (entry.name === '' || !isBlock(entry) || !isBlock(later)) return [];
    return [{ ...later, value: mergeMembers(entry.value, later.value) }];
  });
  const added = over.filter(
    (entry) => entry.name === '' || repeatedKeys.includes(entry.key) || !baseIds.has(idOf(entry)),
  );
  const contested = over.find(({ key }) => key === 'filters' && baseIds.has('filters '));
  return [
    ...kept,
    ...added,
    ...(contested === undefined ? [] : [{ ...contested, key: contestedFilters, value: 'yes' }]),
  ];
}
