import { shortHash } from '../../lib/hash.ts';
import { editEvidence, type Claim } from '../claims/claim.ts';
import type { ContentHash, MergeBase } from '../merge/merge-base.ts';
import { removedPath } from '../merge/merge-dataset.ts';
import { adoptEqualUnits, mergeUnits } from '../merge/three-way.ts';
import { pageFault } from './page-fault.ts';
import { compiledSections, hashSection, parsePage, type MarkdownSection } from './page-sections.ts';
import { pageName, wikiPath } from './wiki-paths.ts';
import type { WikiPage } from './wiki.ts';

interface WikiMergeInput {
  readonly page: string;
  /** What the claims say; undefined if nothing is left for the page. */
  readonly compiled: WikiPage | undefined;
  /** The file on disk; undefined if there is none. */
  readonly text: string | undefined;
  /** From the claims file, for all pages: by `<page>` for the file and `<page>/<section>`. */
  readonly base: MergeBase;
  readonly edits: readonly Claim[];
}

export interface WikiMergeResult {
  readonly outcome: 'unchanged' | 'written' | 'deleted' | 'left_alone';
  readonly text: string | undefined;
  /** This page's part of the base. */
  readonly base: MergeBase;
  readonly edits: readonly Claim[];
  /** The hashes of the sections that a person wrote or changed, by `<page>/<section>`. */
  readonly kept: ReadonlyMap<string, string>;
  /** Sections of a person's that replace a section which is no longer compiled. */
  readonly stale: readonly string[];
  /** Why the file was left alone. */
  readonly reason?: string;
}

type SectionsByPath = ReadonlyMap<string, MarkdownSection>;

/**
 * Brings a page up to date, section by section. Pure. A section that is as the base records it is
 * ktx's to replace or to remove; any other section is a person's and keeps its bytes and its place.
 * New sections come last.
 */
export function mergePage(input: WikiMergeInput): WikiMergeResult {
  const { page, compiled, text } = input;
  const edits = input.edits.filter((edit) => pageName(removedPath(edit)) === page);
  const base = new Map([...input.base].filter(([path]) => pageName(path) === page));
  const sections = byPath(page, compiled ? compiledSections(compiled) : []);
  if (text === undefined) return mergeWithoutFile({ ...input, edits, base }, sections);
  const reason = whyNotEditable(text);
  if (reason !== undefined)
    return { outcome: 'left_alone', text, base, edits, kept: new Map(), stale: [], reason };
  return mergeSections({ ...input, edits, base, text }, sections);
}

/**
 * After a code fence that is not closed, sections cannot be told apart, and an added section would
 * be part of the code.
 */
function whyNotEditable(text: string): string | undefined {
  const fence = () =>
    parsePage(text).hasOpenFence ? 'a code fence in it is not closed' : undefined;
  return pageFault(text) ?? fence();
}

function mergeWithoutFile(
  { page, compiled, base, edits }: WikiMergeInput,
  compiledByPath: SectionsByPath,
): WikiMergeResult {
  const nothing = { text: undefined, kept: new Map(), stale: [] };
  const isRecorded = edits.some((edit) => removedPath(edit) === page);
  // A section that only one of two merged branches had may not have been in the file.
  const wasThere = [...base.values()].some((hashes) => !hashes.includes(null));
  if (isRecorded || wasThere) {
    const allEdits = isRecorded ? edits : [...edits, removalClaim(page)];
    return { ...nothing, outcome: 'unchanged', base, edits: allEdits };
  }
  const removedPaths = new Set(edits.map(removedPath));
  const added = [...compiledByPath].filter(([path]) => !removedPaths.has(path));
  const sectionEdits = edits.filter((edit) => removedPath(edit) !== page);
  if (!compiled || added.length === 0)
    return { ...nothing, outcome: 'unchanged', base: new Map(), edits: sectionEdits };
  const body = added.map(([, section]) => `\n${section.text}`).join('');
  const hashes = added.map(([path, section]) => [path, [hashSection(section)]] as const);
  return {
    ...nothing,
    outcome: 'written',
    text: pageHead(compiled.title) + body,
    base: new Map([[page, [hashPage(page)]], ...hashes]),
    edits: sectionEdits,
  };
}

function mergeSections(
  { page, text, base, edits }: WikiMergeInput & { readonly text: string },
  compiledByPath: SectionsByPath,
): WikiMergeResult {
  const { start, sections } = parsePage(text);
  const file = byPath(page, sections);
  const standingEdits = edits.filter(
    (edit) => !file.has(removedPath(edit)) && removedPath(edit) !== page,
  );
  const removedPaths = new Set(standingEdits.map(removedPath));
  const compiled = new Map([...compiledByPath].filter(([path]) => !removedPaths.has(path)));
  const sides = { file, compiled, base, hash: hashSection };
  const merged = mergeUnits({ ...sides, base: adoptEqualUnits(sides) });
  const decided = [...merged.decisions];

  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const bodies = [...file].flatMap(([path, section]) => {
    const decision = merged.decisions.get(path);
    if (decision === 'remove') return [];
    const target = decision === 'take' ? compiled.get(path) : undefined;
    return target
      ? [target.text.replaceAll('\n', newline) + blankLinesAfter(section.text)]
      : [section.text];
  });
  const added = decided.flatMap(([path, decision]) => {
    const section = compiled.get(path);
    return decision === 'take' && !file.has(path) && section ? [section] : [];
  });
  const keptPaths = decided.filter(([, decision]) => decision === 'keep' || decision === 'stale');
  const removals = decided.filter(([, decision]) => decision === 'omit');
  const result = {
    edits: [...standingEdits, ...removals.map(([path]) => removalClaim(path))],
    kept: new Map(
      keptPaths.flatMap(([path]) => {
        const section = file.get(path);
        return section ? [[path, hashSection(section)] as const] : [];
      }),
    ),
    stale: decided.filter(([, decision]) => decision === 'stale').map(([path]) => path),
  };

  const isEmpty = bodies.length + added.length === 0 && compiledByPath.size === 0;
  if (isEmpty && base.has(page) && isPageHead(start))
    return { ...result, outcome: 'deleted', text: undefined, base: new Map() };
  const nextBase = new Map<string, readonly ContentHash[]>(merged.base);
  if (base.has(page) || added.length > 0) nextBase.set(page, [hashPage(page)]);
  const before = start + bodies.join('');
  const addedText = added
    .map((section) => newline + newline + section.text.trimEnd().replaceAll('\n', newline))
    .join('');
  const newText = addedText === '' ? before : before.trimEnd() + addedText + newline;
  const outcome = newText === text ? 'unchanged' : 'written';
  return { ...result, outcome, text: newText, base: nextBase };
}

function byPath(page: string, sections: readonly MarkdownSection[]): SectionsByPath {
  return new Map(sections.map((section) => [`${page}/${section.key}`, section]));
}

function pageHead(title: string): string {
  return `<!-- Kept current by ktx, section by section: what you change here stays yours. -->\n\n# ${title}\n`;
}

/** True if the text before the first section is as ktx wrote it. */
function isPageHead(start: string): boolean {
  return /^<!-- Kept current by ktx[^>]*-->\s*# [^\n]*\s*$/.test(start);
}

/** What the base records for the file itself. */
function hashPage(page: string): string {
  return shortHash(page, 8);
}

/** The blank lines at the end of a section. */
function blankLinesAfter(text: string): string {
  return text.slice(text.trimEnd().length).replace(/^\r?\n/, '');
}

function removalClaim(path: string): Claim {
  const [page = '', section] = path.split('/');
  return {
    subject: section === undefined ? `page:${page}` : `section:${path}`,
    kind: 'edit',
    body: null,
    evidence: [editEvidence('wiki', { item: wikiPath(page), location: path })],
  };
}
