import type { ClaimBodies, ClaimKind } from '../claims/claim.ts';
import type { RankedClaims } from '../compile/claim-precedence.ts';
import { parseWikiSubject } from '../claims/subject.ts';

/** A page as its claims have it. */
export interface WikiPage {
  /** Name of the file. */
  readonly page: string;
  readonly title: string;
  /** By subject. */
  readonly sections: readonly WikiSection[];
}

export interface WikiSection {
  /** The term or the rule. */
  readonly subject: string;
  readonly title: string;
  /** With its heading and a line end; LF only. */
  readonly text: string;
}

/** A term or a rule, and the claims about it by kind. */
export interface Topic {
  readonly subject: string;
  readonly verdicts: ReadonlyMap<ClaimKind, RankedClaims>;
}

const homes = { term: 'glossary', rule: 'rules' } as const;

/** Where nothing says otherwise, terms are in the glossary and rules on a page of their own. */
export function defaultPage(subject: string): string {
  return homes[parseWikiSubject(subject)?.type ?? 'term'];
}

/** Sorted by name. */
export function buildPages(topics: readonly Topic[]): WikiPage[] {
  const byPage = Map.groupBy(
    topics,
    (topic) => said(topic, 'page')[0] ?? defaultPage(topic.subject),
  );
  return [...byPage]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([page, own]) => {
      const sections = own.map(sectionOf).sort((a, b) => (a.subject < b.subject ? -1 : 1));
      return { page, title: words(page), sections };
    });
}

function sectionOf(topic: Topic): WikiSection {
  const { subject, verdicts } = topic;
  const { type = 'term', slug = '' } = parseWikiSubject(subject) ?? {};
  const title = oneLine(said(topic, 'title')[0] ?? words(slug));
  const kind = type === 'term' ? 'definition' : 'rule';
  const statements = said(topic, kind);
  const { contested = [] } = verdicts.get(kind) ?? {};
  const tags = said(topic, 'tags').flat();
  const synonyms = synonymsOf(topic, title);
  const refs = [...new Set(said(topic, 'refs').flat())].sort();
  const paragraphs = [
    ...(contested.length > 0
      ? [`> Contested: ${contested.length} versions; \`ktx review\` decides.`]
      : []),
    ...(contested.length > 0
      ? contested.map(({ body }) => `- ${oneLine(typeof body === 'string' ? body : '')}`)
      : statements.slice(0, 1).map(paragraph)),
    ...said(topic, 'description').slice(0, 1).map(paragraph),
    ...(synonyms.length > 0 ? [`Also: ${synonyms.join(', ')}.`] : []),
    ...(refs.length > 0 ? [`See ${refs.map((ref) => `\`${ref}\``).join(', ')}.`] : []),
    ...(tags.length > 0 ? [`Tags: ${tags.map(oneLine).join(', ')}.`] : []),
  ];
  return { subject, title, text: `## ${title}\n\n${paragraphs.join('\n\n')}`.trimEnd() + '\n' };
}

function synonymsOf(topic: Topic, title: string): readonly string[] {
  const all = said(topic, 'synonyms').flat().map(oneLine);
  const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
  return all.filter(
    (one, index) => !isSame(one, title) && all.findIndex((other) => isSame(one, other)) === index,
  );
}

type Told = 'title' | 'definition' | 'rule' | 'refs' | 'page' | 'synonyms' | 'tags' | 'description';

/** Of one kind what is shown; each is of its kind, or compiling would have set its claim aside. */
function said<Kind extends Told>({ verdicts }: Topic, kind: Kind): readonly ClaimBodies[Kind][] {
  return (verdicts.get(kind)?.shown ?? []).map(({ body }) => body as ClaimBodies[Kind]);
}

/** No line of a text from outside may look like a heading, or the section would end there; nor begin HTML, which would hide what follows. */
function paragraph(text: string): string {
  const lines = shown(text).replaceAll('\r', '').trim().split('\n');
  return lines
    .map((line) => line.replace(/^(\s*)(#|```|~~~|---|===|<)/, '$1\\$2').trimEnd())
    .join('\n');
}

function oneLine(text: string): string {
  return shown(text).replaceAll(/\s+/g, ' ').trim().replace(/^</, '\\<');
}

/** Without what turns or hides the words around it for whoever reviews them. */
function shown(text: string): string {
  return text.replaceAll(/[\u202A-\u202E\u2066-\u2069]|(?!\s)\p{Cc}/gu, '');
}

function words(slug: string): string {
  const plain = slug.replaceAll(/[_-]+/g, ' ').trim();
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
