import { shortHash } from '../../lib/hash.ts';
import { slug } from '../catalog/slug.ts';
import { subjects } from '../claims/claim.ts';
import { isUnedited, type MergeBase } from '../merge/merge-base.ts';
import { wikiPath } from './wiki-paths.ts';
import type { WikiPage } from './wiki.ts';

/** The text from a second-level heading to the next. */
export interface MarkdownSection {
  /** The slug of its heading, unique in the page. */
  readonly key: string;
  readonly text: string;
}

/** A page's file: what stands before the first section, and the sections. */
interface ParsedPage {
  readonly start: string;
  readonly sections: readonly MarkdownSection[];
  /** True if a code fence is not closed. */
  readonly hasOpenFence: boolean;
}

export function parsePage(text: string): ParsedPage {
  const starts: number[] = [];
  let [offset, fence] = [0, ''];
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]?.slice(0, 3) ?? '';
    if (fence === '' && line.startsWith('## ')) starts.push(offset);
    if (mark !== '') fence = fence === '' ? mark : mark === fence ? '' : fence;
    offset += line.length + 1;
  }
  const counts = new Map<string, number>();
  const sections = starts.map((start, index): MarkdownSection => {
    const sectionText = text.slice(start, starts[index + 1] ?? text.length);
    const name = slug(headingOf(sectionText));
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { key: count === 1 ? name : `${name}#${count}`, text: sectionText };
  });
  return { start: text.slice(0, starts[0] ?? text.length), sections, hasOpenFence: fence !== '' };
}

/**
 * The sections of a compiled page, in its order. Sections with equal titles have their subject in
 * the heading.
 */
export function compiledSections({ sections }: WikiPage): MarkdownSection[] {
  const byTitle = Map.groupBy(sections, ({ title }) => slug(title));
  return sections.map(({ title, subject, text }) => {
    if (byTitle.get(slug(title))?.length === 1) return { key: slug(title), text };
    const marked = text.replace(/^## .*/, (heading) => `${heading} (${subject})`);
    return { key: slug(`${title} (${subject})`), text: marked };
  });
}

/** The path `<page>/<section>` of each term and rule of a compiled page, by subject. */
export function sectionPaths(compiled: WikiPage): Map<string, string> {
  const sections = compiledSections(compiled);
  return new Map(
    compiled.sections.map(({ subject }, index) => [
      subject,
      `${compiled.page}/${sections[index]?.key}`,
    ]),
  );
}

/** The sections of a page's file with their titles, first lines and authors. */
export function listSections(page: string, text: string, base: MergeBase) {
  const { start, sections } = parsePage(text);
  let line = start.split('\n').length;
  return sections.map((section) => {
    const path = `${page}/${section.key}`;
    const by: 'ktx' | 'person' = isUnedited(base, path, hashSection(section)) ? 'ktx' : 'person';
    const listed = {
      key: section.key,
      title: headingOf(section.text),
      text: section.text.trimEnd(),
      line,
      by,
    };
    line += section.text.split('\n').length - 1;
    return listed;
  });
}

/**
 * The subject of a section: on the pages of terms and rules the term or the rule, elsewhere the
 * section itself.
 */
export function sectionSubject(path: string, title: string): string {
  const named = /\(((?:term|rule):[a-z0-9_]+)\)$/.exec(title)?.[1];
  if (named !== undefined) return named;
  if (path === wikiPath('glossary')) return subjects.term(title);
  return path === wikiPath('rules')
    ? subjects.rule(title)
    : `page:${path.slice('wiki/'.length, -'.md'.length)}/${slug(title)}`;
}

/**
 * The hash by which the merge compares sections: line ends and trailing blank lines do not count.
 */
export function hashSection({ text }: Pick<MarkdownSection, 'text'>): string {
  return shortHash(text.replaceAll('\r\n', '\n').trimEnd(), 8);
}

/** The title of a section, from its heading. */
function headingOf(sectionText: string): string {
  return sectionText.split(/\r?\n/)[0]?.slice(3).trim() ?? '';
}
