import { shortId, type Claim } from '../../../context/claims/claim.ts';
import { applyModelDecisions, isModelDecision } from '../../../context/claims/model-decisions.ts';
import type { Pin } from '../../../context/claims/pins.ts';
import { parseWikiSubject } from '../../../context/claims/subject.ts';
import { defaultPage } from '../../../context/wiki/wiki.ts';
import { nearest } from '../../../lib/suggest.ts';

/** A term or a rule, with what is claimed about it. */
interface WikiEntry {
  readonly subject: string;
  readonly title: string;
  /** Definitions, rules and descriptions, in the order of their ids. */
  readonly statements: readonly string[];
  /** Where they stand, like `handbook, sources/handbook/terms.md line 12`. */
  readonly places: readonly string[];
  readonly page: string;
  /** Its title and synonyms in comparable form. */
  readonly names: readonly string[];
}

/** A term or a rule about which a model has to decide. */
export interface CurationCandidate extends WikiEntry {
  /** The least id of its claims. */
  readonly id: string;
  /** The short ids of its claims, sorted. */
  readonly claims: readonly string[];
  /** Whether nothing but models claims it. */
  readonly isModelOnly: boolean;
  /** The subjects of other entries that share a name with it. */
  readonly namesakes: readonly string[];
}

export interface CurationWiki {
  /** By subject. */
  readonly entries: ReadonlyMap<string, WikiEntry>;
  /** Sorted by id. */
  readonly candidates: readonly CurationCandidate[];
}

/**
 * Finds the candidates: terms and rules that a model read, and those from code that share a name
 * with another one, unless they are already placed, merged or rejected. Pure, and independent of
 * the order of the claims.
 */
export function findCurationCandidates(
  claims: readonly Claim[],
  pins: readonly Pin[],
): CurationWiki {
  const { effective } = applyModelDecisions(claims, pins);
  const isStatement = (claim: Claim) =>
    !isModelDecision(claim) &&
    parseWikiSubject(claim.subject) !== undefined &&
    effective(claim) !== undefined;
  const statements = Map.groupBy(claims.filter(isStatement), ({ subject }) => subject);
  const entries = new Map(
    [...statements]
      .filter(([, own]) => own.some(({ kind }) => kind !== 'page'))
      .map(([subject, own]) => [subject, entryOf(subject, own)]),
  );
  const decided = new Set(
    claims
      .filter(({ kind }) => kind === 'page' || kind === 'same_as')
      .map(({ subject }) => subject),
  );
  const namesakesOf = namesakeFinder([...entries.values()]);
  const candidates = [...entries.values()]
    .filter(({ subject }) => !decided.has(subject))
    .map((entry) => candidateOf(entry, statements.get(entry.subject) ?? [], namesakesOf(entry)))
    .filter((candidate) => candidate !== undefined);
  return { entries, candidates: candidates.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** Gives the subjects of the same type that share a name with an entry. */
function namesakeFinder(entries: readonly WikiEntry[]): (entry: WikiEntry) => string[] {
  const byName = Map.groupBy(
    entries.flatMap(({ names, subject }) => names.map((name) => ({ name, subject }))),
    ({ name }) => name,
  );
  return (entry) => {
    const sharing = entry.names.flatMap((name) =>
      (byName.get(name) ?? []).map(({ subject }) => subject),
    );
    return [...new Set(sharing)].filter((subject) => isOther(entry, subject));
  };
}

/** Undefined if the entry needs no decision. */
function candidateOf(
  entry: WikiEntry,
  claims: readonly Claim[],
  namesakes: readonly string[],
): CurationCandidate | undefined {
  const origins = claims.flatMap(({ evidence }) => evidence.map(({ origin }) => origin));
  if (!origins.includes('model') && namesakes.length === 0) return undefined;
  const ids = claims.map(shortId).sort();
  const isModelOnly = origins.every((origin) => origin === 'model');
  return { ...entry, id: ids[0] ?? '', claims: ids, isModelOnly, namesakes };
}

/** The subjects of other entries that may mean the same, by their names: at most 8. */
export function findSimilar(
  { entries }: CurationWiki,
  candidate: CurationCandidate,
): readonly string[] {
  const byTitle = new Map(
    [...entries.values()].map(({ title, subject }) => [title.toLowerCase(), subject]),
  );
  const nearby = nearest(candidate.title, byTitle.keys(), 5)
    .flatMap((title) => byTitle.get(title) ?? [])
    .filter((subject) => isOther(candidate, subject));
  return [...new Set([...candidate.namesakes, ...nearby])].slice(0, 8);
}

function isOther({ subject }: WikiEntry, other: string): boolean {
  return other !== subject && subjectType(other) === subjectType(subject);
}

/** `term` or `rule`. */
export function subjectType(subject: string): string {
  return subject.slice(0, subject.indexOf(':'));
}

function entryOf(subject: string, claims: readonly Claim[]): WikiEntry {
  const sorted = claims.toSorted((a, b) => (shortId(a) < shortId(b) ? -1 : 1));
  const textsOf = (...kinds: readonly Claim['kind'][]) =>
    sorted.flatMap(({ kind, body }) =>
      kinds.includes(kind) && typeof body === 'string' ? [body] : [],
    );
  const subjectName = subject.slice(subject.indexOf(':') + 1).replaceAll('_', ' ');
  const title = textsOf('title')[0] ?? subjectName;
  const synonyms = sorted.flatMap(({ kind, body }) =>
    kind === 'synonyms' && Array.isArray(body) ? body.map(String) : [],
  );
  const places = sorted
    .flatMap(({ evidence }) => evidence)
    .map(({ connection, item = '', location = '' }) =>
      `${connection}, ${item} ${location}`.replace(/[, ]+$/, ''),
    );
  return {
    subject,
    title,
    statements: textsOf('definition', 'rule', 'description'),
    places: [...new Set(places)].sort(),
    page: textsOf('page')[0] ?? defaultPage(subject),
    names: comparableNames([title, ...synonyms]),
  };
}

/**
 * Names in a form in which equal names mean the same: lower case, without punctuation and plural.
 * What stands in parentheses is a name of its own, and so are the initials of three or more words.
 */
function comparableNames(spelled: readonly string[]): readonly string[] {
  const parts = spelled.flatMap((name) => [
    name.replaceAll(/\([^()]*\)/g, ' '),
    ...[...name.matchAll(/\(([^()]+)\)/g)].map(([, inner = '']) => inner),
  ]);
  const names = parts.flatMap((part) => {
    const words = part
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== '');
    const singular = words.map((word) => (word.length > 3 ? word.replace(/s$/, '') : word));
    const initials = words.map((word) => word[0]).join('');
    return words.length > 2 ? [singular.join(' '), initials] : [singular.join(' ')];
  });
  return [...new Set(names)].filter((name) => name !== '').sort();
}
