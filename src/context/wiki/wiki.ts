import type { ClaimBodies, ClaimKind } from '../claims/claim.ts';
import { CORE_SCHEMA, dump } from 'js-yaml';
import { decideLater, noneOfThem, type Pin } from '../claims/pins.ts';
import { parseWikiSubject } from '../claims/subject.ts';
import type { RankedClaims } from '../compile/claim-precedence.ts';
import { safeMarkdown } from './safe-markdown.ts';

/** A page, compiled from claims. */
export interface WikiPage {
  /** The name of its file, without the ending. */
  readonly page: string;
  readonly title: string;
  /** Sorted by subject. */
  readonly sections: readonly WikiSection[];
}

interface WikiSection {
  /** The term or the rule. */
  readonly subject: string;
  readonly title: string;
  /** Markdown with its heading and a final line end; LF only. */
  readonly text: string;
}

/** A term or a rule, and the claims about it. */
export interface Topic {
  readonly subject: string;
  readonly byKind: ReadonlyMap<ClaimKind, RankedClaims>;
}

const defaultPages = { term: 'glossary', rule: 'rules' } as const;

/** The page of a term or a rule that no claim places elsewhere. */
export function defaultPage(subject: string): string {
  return defaultPages[parseWikiSubject(subject)?.type ?? 'term'];
}

/** The pages, sorted by name. The pins are those of metrics and whatever else a topic refers to. */
export function buildPages(topics: readonly Topic[], pins: readonly Pin[]): WikiPage[] {
  const byPage = Map.groupBy(
    topics,
    (topic) => shownBodiesOf(topic, 'page')[0] ?? defaultPage(topic.subject),
  );
  return [...byPage]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([page, pageTopics]) => {
      const sections = pageTopics
        .map((topic) => buildSection(topic, pins))
        .sort((a, b) => (a.subject < b.subject ? -1 : 1));
      return { page, title: titleFromSlug(page), sections };
    });
}

function buildSection(topic: Topic, pins: readonly Pin[]): WikiSection {
  const { subject, byKind } = topic;
  const { type = 'term', slug = '' } = parseWikiSubject(subject) ?? {};
  const title = toLine(shownBodiesOf(topic, 'title')[0] ?? titleFromSlug(slug));
  const kind = type === 'term' ? 'definition' : 'rule';
  const { contested = [] } = byKind.get(kind) ?? {};
  const versions = contested.map(({ body }) => toLine(typeof body === 'string' ? body : ''));
  const synonyms = listSynonyms(topic, title);
  const refs = [...new Set(shownBodiesOf(topic, 'refs').flat())].sort();
  const tags = shownBodiesOf(topic, 'tags').flat();
  const statement =
    versions.length > 0
      ? [
          `> Contested: ${versions.length} versions; \`ktx review\` decides.`,
          ...versions.map((version) => `- ${version}`),
        ]
      : shownBodiesOf(topic, kind).slice(0, 1).map(toParagraph);
  const paragraphs = [
    ...statement,
    ...shownBodiesOf(topic, 'description').slice(0, 1).map(toParagraph),
    ...refs.flatMap((ref) => describeDecision(ref, pins)),
    ...(synonyms.length > 0 ? [`Also: ${synonyms.join(', ')}.`] : []),
    ...shownBodiesOf(topic, 'url')
      .slice(0, 1)
      .map((url) => `Link: <${url}>`),
    ...shownBodiesOf(topic, 'owner')
      .slice(0, 1)
      .map((owner) => `Owner: ${toLine(owner)}.`),
    ...(refs.length > 0 ? [`See ${refs.map((ref) => `\`${ref}\``).join(', ')}.`] : []),
    ...(tags.length > 0 ? [`Tags: ${tags.map(toLine).join(', ')}.`] : []),
  ];
  return { subject, title, text: `## ${title}\n\n${paragraphs.join('\n\n')}`.trimEnd() + '\n' };
}

/**
 * What a person decided last about a metric that a text defines: the text may be the version that
 * was rejected.
 */
function describeDecision(subject: string, pins: readonly Pin[]): readonly string[] {
  const pin = pins.findLast((own) => own.subject === subject && own.kind === 'metric');
  if (pin === undefined || pin.choose === decideLater) return [];
  const { choose, said, says, by, at } = pin;
  const who = [by, at?.slice(0, 10)].filter((part) => part !== undefined).map(toLine);
  const head = `> Decided for \`${subject}\`${who.length === 0 ? '' : ` (${who.join(', ')})`}:`;
  if (choose === noneOfThem) return [`${head} no definition holds.`];
  const body = said ?? says;
  if (body === undefined) return [`${head} see \`ktx explain ${subject}\`.`];
  const options = { schema: CORE_SCHEMA, flowLevel: 0, lineWidth: -1 };
  const text = removeInvisible(dump(body, options)).trim().replaceAll('`', '’');
  return [`${head} \`${text}\``];
}

/** All synonyms, without the title and without repetitions, ignoring case. */
function listSynonyms(topic: Topic, title: string): readonly string[] {
  const synonyms = shownBodiesOf(topic, 'synonyms').flat().map(toLine);
  const isEqual = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
  return synonyms.filter(
    (synonym, index) =>
      !isEqual(synonym, title) &&
      synonyms.findIndex((candidate) => isEqual(synonym, candidate)) === index,
  );
}

type WikiKind =
  | 'title'
  | 'definition'
  | 'rule'
  | 'refs'
  | 'page'
  | 'synonyms'
  | 'tags'
  | 'description'
  | 'owner'
  | 'url';

/**
 * The bodies that are shown of a kind. They fit the kind: compiling quarantines a claim whose body
 * does not.
 */
function shownBodiesOf<Kind extends WikiKind>(
  { byKind }: Topic,
  kind: Kind,
): readonly ClaimBodies[Kind][] {
  return (byKind.get(kind)?.shown ?? []).map(({ body }) => body as ClaimBodies[Kind]);
}

/**
 * Foreign text as Markdown. No line may look like a heading, which would end the section.
 */
function toParagraph(text: string): string {
  const lines = safeMarkdown(removeInvisible(text)).replaceAll('\r', '').trim().split('\n');
  return lines
    .map((line) => line.replace(/^(\s*)(#|```|~~~|---|===)/, '$1\\$2').trimEnd())
    .join('\n');
}

function toLine(text: string): string {
  return safeMarkdown(removeInvisible(text)).replaceAll(/\s+/g, ' ').trim();
}

/** The text without the characters that reorder or hide the words around them from a reviewer. */
function removeInvisible(text: string): string {
  return text.replaceAll(/[\u202A-\u202E\u2066-\u2069]|(?!\s)\p{Cc}/gu, '');
}

/** `net_revenue` as `Net revenue`. */
function titleFromSlug(slug: string): string {
  const words = slug.replaceAll(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
