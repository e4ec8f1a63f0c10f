import { shortId, type Claim } from '../../../context/claims/claim.ts';
import type { Pin } from '../../../context/claims/pins.ts';
import { applyModelDecisions, isModelDecision } from '../../../context/claims/model-decisions.ts';
import { parseWikiSubject } from '../../../context/claims/subject.ts';
import { defaultPage } from '../../../context/wiki/wiki.ts';
import { nearest } from '../../../lib/suggest.ts';

/** A term or a rule, by whatever it is called. */
interface Topic {
  readonly subject: string;
  readonly title: string;
  /** Definitions, rules and descriptions, in the order of their ids. */
  readonly says: readonly string[];
  /** `handbook, sources/handbook/terms.md line 12`. */
  readonly from: readonly string[];
  readonly page: string;
  readonly names: readonly string[];
}

/** One that has no place yet: a model has to say where it belongs. */
export interface Candidate extends Topic {
  /** The least of the ids of its claims. */
  readonly id: string;
  /** All short ids of what is said of it, sorted. */
  readonly claims: readonly string[];
  /** True where nothing but models said it. */
  readonly isModels: boolean;
  /** Other topics with one of its names. */
  readonly namesakes: readonly string[];
}

export interface Wiki {
  readonly topics: ReadonlyMap<string, Topic>;
  /** Sorted by id. */
  readonly candidates: readonly Candidate[];
}

/**
 * What there is to curate: terms and rules that a model read, and those that code read which share a name with another, as long as
 * nobody placed, merged or rejected them. Pure, and the same whatever the order.
 */
export function wikiToCurate(claims: readonly Claim[], pins: readonly Pin[]): Wiki {
  const ruled = applyModelDecisions(claims, pins);
  const decided = new Set(
    claims
      .filter(({ kind }) => kind === 'page' || kind === 'same_as')
      .map(({ subject }) => subject),
  );
  const own = Map.groupBy(
    claims.filter(
      (claim) =>
        !isModelDecision(claim) && parseWikiSubject(claim.subject) && ruled.effective(claim),
    ),
    ({ subject }) => subject,
  );
  const standing = [...own].filter(([, said]) => said.some(({ kind }) => kind !== 'page'));
  const topics = new Map(standing.map(([subject, said]) => [subject, topicOf(subject, said)]));
  const shared = Map.groupBy(
    [...topics.values()].flatMap((topic) => topic.names.map((name) => ({ name, topic }))),
    ({ name }) => name,
  );
  const candidates = [...topics.values()].flatMap((topic): Candidate[] => {
    if (decided.has(topic.subject)) return [];
    const said = own.get(topic.subject) ?? [];
    const same = topic.names.flatMap((name) =>
      (shared.get(name) ?? []).map((one) => one.topic.subject),
    );
    const namesakes = [...new Set(same)].filter((subject) => isOther(topic, subject));
    const isRead = said.some(({ evidence }) => evidence.some(({ origin }) => origin === 'model'));
    if (!isRead && namesakes.length === 0) return [];
    const ids = said.map(shortId).sort();
    const isModels = said.every(({ evidence }) =>
      evidence.every(({ origin }) => origin === 'model'),
    );
    return [{ ...topic, id: ids[0] ?? '', claims: ids, isModels, namesakes }];
  });
  return { topics, candidates: candidates.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** Other topics that may be the same, by their names. */
export function resembling({ topics }: Wiki, candidate: Candidate): readonly string[] {
  const titles = new Map(
    [...topics.values()].map(({ title, subject }) => [title.toLowerCase(), subject]),
  );
  const close = nearest(candidate.title, titles.keys(), 5).flatMap(
    (title) => titles.get(title) ?? [],
  );
  return [
    ...new Set([...candidate.namesakes, ...close.filter((subject) => isOther(candidate, subject))]),
  ].slice(0, 8);
}

function isOther({ subject }: Topic, name: string): boolean {
  return name !== subject && typeOf(name) === typeOf(subject);
}

function topicOf(subject: string, claims: readonly Claim[]): Topic {
  const sorted = claims.toSorted((a, b) => (shortId(a) < shortId(b) ? -1 : 1));
  const texts = (kinds: readonly string[]) =>
    sorted.flatMap(({ kind, body }) =>
      kinds.includes(kind) && typeof body === 'string' ? [body] : [],
    );
  const [title = subject.slice(subject.indexOf(':') + 1).replaceAll('_', ' ')] = texts(['title']);
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
    says: texts(['definition', 'rule', 'description']),
    from: [...new Set(places)].sort(),
    page: texts(['page'])[0] ?? defaultPage(subject),
    names: namesOf([title, ...synonyms]),
  };
}

/** Ways to write a name that mean the same: in lower case, without punctuation and plural; of several words also their initials. */
function namesOf(spelled: readonly string[]): readonly string[] {
  const names = spelled.flatMap((name) => {
    const bracketed = [...name.matchAll(/\(([^()]+)\)/g)].map(([, inner = '']) => inner);
    return [name.replaceAll(/\([^()]*\)/g, ' '), ...bracketed].flatMap((one) => {
      const words = one
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u)
        .filter((word) => word !== '');
      const plain = words
        .map((word) => (word.length > 3 ? word.replace(/s$/, '') : word))
        .join(' ');
      return words.length > 2 ? [plain, words.map((word) => word[0]).join('')] : [plain];
    });
  });
  return [...new Set(names)].filter((name) => name !== '').sort();
}

export function typeOf(subject: string): string {
  return subject.slice(0, subject.indexOf(':'));
}
