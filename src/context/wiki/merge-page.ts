import { shortHash } from '../../lib/hash.ts';
import { subjects, type Claim } from '../claims/claim.ts';
import type { MergeBase } from '../claims/claims-file.ts';
import { removedPath } from '../merge/merge-dataset.ts';
import { slug } from '../catalog/slug.ts';
import type { WikiPage, WikiSection } from './wiki.ts';

export const wikiClaimsPath = 'claims/wiki.jsonl';

interface WikiMergeInput {
  readonly page: string;
  /** What the claims say; undefined where nothing is left for the page. */
  readonly compiled: WikiPage | undefined;
  /** The file as it stands; undefined where there is none. */
  readonly text: string | undefined;
  /** Of the claims file, for all pages: by `<page>` for the file and `<page>/<section>`. */
  readonly base: MergeBase;
  readonly edits: readonly Claim[];
}

export interface WikiMergeResult {
  readonly outcome: 'unchanged' | 'written' | 'deleted' | 'left_alone';
  readonly text: string | undefined;
  /** This page's part of the base. */
  readonly base: MergeBase;
  readonly edits: readonly Claim[];
  /** Sections that a person wrote or changed, by `<page>/<section>`, with their states. */
  readonly kept: ReadonlyMap<string, string>;
  /** Sections of a person's that stand on what is gone. */
  readonly stale: readonly string[];
  readonly reason?: string;
}

/** A stretch of the file from a second-level heading to the next. */
interface Part {
  readonly key: string;
  readonly text: string;
}

/** The path of a page, relative to the project. */
export function wikiPath(page: string): string {
  return `wiki/${page}.md`;
}

/**
 * Brings a page up to date section by section. Pure. A section in the state that the base records is ktx's to replace or to
 * remove; any other is a person's, and keeps its bytes and its place. What is new comes last.
 */
export function mergePage(input: WikiMergeInput): WikiMergeResult {
  const { page, compiled, text } = input;
  const edits = input.edits.filter((edit) => pageName(removedPath(edit)) === page);
  const wanted = new Map(partsWanted(compiled).map((part) => [`${page}/${part.key}`, part]));
  const base = new Map([...input.base].filter(([path]) => pageName(path) === page));
  const fault = text === undefined ? undefined : faultOf(text);
  if (fault !== undefined)
    return { outcome: 'left_alone', text, base, edits, kept: new Map(), stale: [], reason: fault };
  if (text === undefined) return withoutFile({ ...input, edits, base }, wanted);
  return mergeSections({ ...input, edits, base, text }, wanted);
}

/** Where each term and rule stands, by subject: `<page>/<section>`. */
export function sectionPaths(compiled: WikiPage): Map<string, string> {
  const parts = partsWanted(compiled);
  return new Map(
    compiled.sections.map(({ subject }, index) => [
      subject,
      `${compiled.page}/${parts[index]?.key}`,
    ]),
  );
}

/** Behind a code fence that is not closed no section begins: what is there cannot be told apart, and what is added would be lost. */
function faultOf(text: string): string | undefined {
  if (!text.isWellFormed()) return text.slice(1) || 'it is not valid UTF-8';
  return partsOf(text).isOpen ? 'a code fence in it is not closed' : undefined;
}

type Wanted = ReadonlyMap<string, Part>;

function withoutFile(
  { page, compiled, base, edits }: WikiMergeInput,
  wanted: Wanted,
): WikiMergeResult {
  const nothing = { text: undefined, kept: new Map(), stale: [] };
  const isDeleted = base.size > 0 && ![...base.values()].some((states) => states.includes(null));
  if (isDeleted) {
    const isKnown = edits.some((edit) => removedPath(edit) === page);
    return {
      ...nothing,
      outcome: 'unchanged',
      base,
      edits: isKnown ? edits : [...edits, removal(page)],
    };
  }
  const out = new Set(edits.map(removedPath));
  const fresh = [...wanted].filter(([path]) => !out.has(path));
  const left = edits.filter((edit) => removedPath(edit) !== page);
  if (!compiled || fresh.length === 0)
    return { ...nothing, outcome: 'unchanged', base: new Map(), edits: left };
  const body = fresh.map(([, part]) => `\n${part.text}`).join('');
  const states = fresh.map(([path, part]) => [path, [stateOf(part.text)]] as const);
  return {
    ...nothing,
    outcome: 'written',
    text: head(compiled.title) + body,
    base: new Map([[page, [stateOf(page)]], ...states]),
    edits: left,
  };
}

function mergeSections(
  { page, text, base, edits, compiled }: WikiMergeInput & { readonly text: string },
  wanted: Wanted,
): WikiMergeResult {
  const { start, parts } = partsOf(text);
  const standing = new Map(parts.map((part) => [`${page}/${part.key}`, part]));
  const isOurs = (path: string, part: Part) =>
    base.get(path)?.includes(stateOf(part.text)) === true;
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const kept = new Map<string, string>();
  const stale: string[] = [];
  const next = new Map<string, readonly (string | null)[]>();
  const sections = [...standing].flatMap(([path, part]) => {
    const target = wanted.get(path);
    if (isOurs(path, part) || (target && stateOf(target.text) === stateOf(part.text))) {
      if (!target) return [];
      next.set(path, [stateOf(target.text)]);
      const isSame = stateOf(target.text) === stateOf(part.text);
      return [isSame ? part.text : target.text.replaceAll('\n', newline) + gapAfter(part.text)];
    }
    kept.set(path, stateOf(part.text));
    if (base.has(path)) {
      next.set(path, base.get(path) ?? []);
      if (!target) stale.push(path);
    }
    return [part.text];
  });
  const stays = edits.filter(
    (edit) => !standing.has(removedPath(edit)) && removedPath(edit) !== page,
  );
  const out = new Set(stays.map(removedPath));
  const absent = [...wanted].filter(([path]) => !standing.has(path) && !out.has(path));
  const isRemoved = ([path]: [string, Part]) =>
    base.has(path) && base.get(path)?.includes(null) !== true;
  const removed = absent.filter(isRemoved).map(([path]) => path);
  const fresh = absent.filter((one) => !isRemoved(one));
  for (const [path, part] of fresh) next.set(path, [stateOf(part.text)]);
  const all = { edits: [...stays, ...removed.map(removal)], kept, stale };
  const isAlone =
    sections.length + fresh.length === 0 && (compiled === undefined || wanted.size === 0);
  if (isAlone && base.has(page) && isHead(start))
    return { ...all, outcome: 'deleted', text: undefined, base: new Map() };
  if (base.has(page) || fresh.length > 0) next.set(page, [stateOf(page)]);
  const before = (start + sections.join('')).trimEnd();
  const added = fresh
    .map(([, part]) => newline + newline + part.text.trimEnd().replaceAll('\n', newline))
    .join('');
  const merged = added === '' ? start + sections.join('') : before + added + newline;
  return { ...all, outcome: merged === text ? 'unchanged' : 'written', text: merged, base: next };
}

/** Of a page's sections by key; two with one title are told apart by their subjects. */
function partsWanted(compiled: WikiPage | undefined): Part[] {
  const sections = compiled?.sections ?? [];
  const titles = Map.groupBy(sections, ({ title }) => slug(title));
  return sections.map((section: WikiSection) => {
    const isAlone = titles.get(slug(section.title))?.length === 1;
    const text = isAlone
      ? section.text
      : section.text.replace(/^## .*/, (heading) => `${heading} (${section.subject})`);
    return { key: slug(isAlone ? section.title : `${section.title} (${section.subject})`), text };
  });
}

function partsOf(text: string): { start: string; parts: Part[]; isOpen: boolean } {
  const starts: number[] = [];
  let [at, fence] = [0, ''];
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]?.slice(0, 3) ?? '';
    if (fence === '' && line.startsWith('## ')) starts.push(at);
    if (mark !== '') fence = fence === '' ? mark : mark === fence ? '' : fence;
    at += line.length + 1;
  }
  const counts = new Map<string, number>();
  const parts = starts.map((start, index): Part => {
    const own = text.slice(start, starts[index + 1] ?? text.length);
    const name = slug(own.split(/\r?\n/)[0]?.slice(3).trim() ?? '');
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { key: count === 1 ? name : `${name}#${count}`, text: own };
  });
  return { start: text.slice(0, starts[0] ?? text.length), parts, isOpen: fence !== '' };
}

/** The sections of a page with their titles, where they begin, and whose they are. */
export function listSections(page: string, text: string, base: MergeBase) {
  const { start, parts } = partsOf(text);
  let line = start.split('\n').length;
  return parts.map((part) => {
    const by: 'ktx' | 'person' =
      base.get(`${page}/${part.key}`)?.includes(stateOf(part.text)) === true ? 'ktx' : 'person';
    const section = {
      key: part.key,
      title: part.text.split(/\r?\n/)[0]?.slice(3).trim() ?? '',
      text: part.text.trimEnd(),
      line,
      by,
    };
    line += part.text.split('\n').length - 1;
    return section;
  });
}

/** What a section is about: on the pages of terms and rules the term or the rule, elsewhere itself. */
export function sectionSubject(path: string, title: string): string {
  const meant = /\(((?:term|rule):[a-z0-9_]+)\)$/.exec(title)?.[1];
  if (meant !== undefined) return meant;
  if (path === wikiPath('glossary')) return subjects.term(title);
  return path === wikiPath('rules')
    ? subjects.rule(title)
    : `page:${path.slice('wiki/'.length, -'.md'.length)}/${slug(title)}`;
}

function head(title: string): string {
  return `<!-- Kept current by ktx, section by section: what you change here stays yours. -->\n\n# ${title}\n`;
}

function isHead(start: string): boolean {
  return /^<!-- Kept current by ktx[^>]*-->\s*# [^\n]*\s*$/.test(start);
}

function stateOf(text: string): string {
  return shortHash(text.replaceAll('\r\n', '\n').trimEnd(), 8);
}

/** The blank lines at the end of a section. */
function gapAfter(text: string): string {
  return text.slice(text.trimEnd().length).replace(/^\r?\n/, '');
}

export function pageName(path: string): string {
  return path.split('/')[0] ?? '';
}

function removal(path: string): Claim {
  const [page = '', section] = path.split('/');
  const place = { item: wikiPath(page), location: path };
  return {
    subject: section === undefined ? `page:${page}` : `section:${path}`,
    kind: 'edit',
    body: null,
    evidence: [
      { connection: 'wiki', origin: 'person', extractor: 'edit@1', ...place, confidence: 1 },
    ],
  };
}
