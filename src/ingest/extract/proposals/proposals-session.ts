import { readItemNotes } from '../../../context/claims/item-notes.ts';
import type { Claim, ClaimKind, Evidence } from '../../../context/claims/claim.ts';
import { uniteClaims } from '../../../context/claims/claims-file.ts';
import { meaningKey } from '../../../context/compile/meaning.ts';
import type { Json } from '../../../lib/json.ts';
import { itemPath } from '../../../sources/source.ts';
import { readingVersion, type UnmappedFact } from '../../fetch/item-files.ts';
import type { Snapshot } from '../../project-snapshot.ts';
import { findQuote } from './find-quote.ts';
import { refusal } from './resolve-names.ts';
import { paragraphAround } from './paragraph.ts';
import { pendingPath, type PendingItem, type WorkUnit } from '../work-units.ts';

/** What a model read in one item. */
export interface ItemOutcome {
  readonly claims: readonly Claim[];
  /** What the model could not claim. */
  readonly unmapped: readonly UnmappedFact[];
}

/** A claim without its evidence. */
export type ProposedClaim = readonly [subject: string, kind: ClaimKind, body: Json];

/** An item by its path, and words of it. */
export interface QuotedItem {
  readonly item: string;
  readonly quote: string;
}

interface SessionOptions {
  readonly snapshot: Snapshot;
  /** Of every claim of the session; at most 0.7. */
  readonly confidence: number;
  /** What an earlier session accepted before it broke off, by the path of the item. */
  readonly kept?: ReadonlyMap<string, readonly Claim[]> | undefined;
  readonly signal: AbortSignal;
}

/**
 * Collects what a model proposes while it reads one work unit. Every accepted claim quotes an item
 * of the unit; what it says about datasets is checked before, in `propose-claims.ts`. Methods throw
 * a refusal that tells the model what would be valid.
 */
export type ProposalsSession = ReturnType<typeof openProposalsSession>;

const mostQueries = 12;

export function openProposalsSession(
  { connection, items }: WorkUnit,
  { snapshot, confidence, kept = new Map(), signal }: SessionOptions,
) {
  const itemsByPath = new Map(items.map((item) => [itemPath(connection, item.item.path), item]));
  const accepted = new Map<string, readonly Claim[]>(kept);
  const unmapped = new Map<string, UnmappedFact[]>();
  const touched = new Set<string>();
  const refusals = trackRefusals();
  const itemAt = (path: string): PendingItem => requireItem(itemsByPath, path);
  const evidenceOf = ({ item: path, quote }: QuotedItem): Evidence => {
    const pending = itemAt(path);
    const found = requireQuote(pending, path, quote);
    const source = { connection, origin: 'model', extractor: readingVersion, item: path } as const;
    return { ...source, ...found, ...readItemNotes(pending.item.body), confidence };
  };
  return {
    snapshot,
    signal,
    /** The paths of the unit's items, and the places in them that a model has to read. */
    list: () =>
      [...itemsByPath].map(([path, { unread }]) => ({
        path,
        unread: unread.map(({ location }) => location),
      })),
    /** The text of an item of the unit. */
    text: (path: string): string => itemAt(path).item.body,
    /** Counts a query of the model; refuses it if the unit has used all of its queries. */
    spendQuery: limitQueries(),
    noteAccepted: refusals.clear,
    noteRefused: refusals.note,
    /** Adds claims with the quote as their evidence. */
    accept(place: QuotedItem, proposed: readonly ProposedClaim[]): void {
      const evidence = [evidenceOf(place)];
      const claims = proposed.map(([subject, kind, body]): Claim => {
        const text = normalizeText(kind, body);
        return { subject, kind, body: knownWording(snapshot, [subject, kind, text]), evidence };
      });
      accepted.set(place.item, [...(accepted.get(place.item) ?? []), ...claims]);
      moveToEnd(touched, place.item);
    },
    /** Refuses the quotes that `accept` would refuse. */
    requireQuote: (place: QuotedItem): void => void evidenceOf(place),
    /** The words around a quote: its paragraph with the headings above, or the passage of SQL. */
    contextOf: ({ item, quote }: QuotedItem): string => wordsAround(itemAt(item), item, quote),
    reportUnmapped({ item, ...fact }: UnmappedFact & { readonly item: string }): void {
      moveToEnd(touched, pendingPath(itemAt(item)));
      unmapped.set(item, [...(unmapped.get(item) ?? []), fact]);
    },
    /** The keys of the items that the model has left for another one. */
    finished: () => new Set([...touched].slice(0, -1).map((path) => itemAt(path).item.key)),
    /**
     * By the key of the item; only of items that the model claimed or reported something about in
     * this session. Does not depend on the order of the proposals.
     */
    outcomes: (): ReadonlyMap<string, ItemOutcome> =>
      new Map(
        [...itemsByPath].flatMap(([path, { item }]): [string, ItemOutcome][] => {
          const claims = uniteClaims(accepted.get(path) ?? []);
          const reported = unmapped.get(path) ?? [];
          const facts = sortFacts([...reported, ...refusals.facts(path)]);
          return touched.has(path) ? [[item.key, { claims, unmapped: facts }]] : [];
        }),
      ),
    /** What was refused in the item and never corrected, as one line; undefined if nothing was. */
    refusalOf: (path: string): string | undefined => refusals.facts(path)[0]?.what,
  };
}

function limitQueries(): () => void {
  let queries = 0;
  return () => {
    queries += 1;
    if (queries > mostQueries)
      throw refusal(
        `This work unit has had its ${mostQueries} queries: decide with what is known.`,
      );
  };
}

function requireItem(items: ReadonlyMap<string, PendingItem>, path: string): PendingItem {
  const item = items.get(path);
  if (item !== undefined) return item;
  const paths = [...items.keys()].join(', ');
  throw refusal(`${path} is not an item of this work unit. Its items are ${paths}.`);
}

const longestRefusal = 200;

/** What was refused in each item and not corrected since, by the name of the tool. */
function trackRefusals() {
  const byItem = new Map<string, Map<string, string>>();
  return {
    note: (tool: string, item: string, reason: string): void =>
      void byItem.set(item, new Map(byItem.get(item)).set(tool, reason)),
    clear: (tool: string, item: string): void => void byItem.get(item)?.delete(tool),
    /** As facts that have no place, so that a person sees them. */
    facts: (item: string): UnmappedFact[] =>
      [...(byItem.get(item) ?? [])].map(([tool, reason]) => ({
        reason: 'refused',
        what: `${tool}: ${reason.replaceAll(/\s+/g, ' ').slice(0, longestRefusal)}`,
      })),
  };
}

/** The paragraph of the quote with the headings above it; of SQL, the whole passage. */
function wordsAround({ item, unread }: PendingItem, path: string, quote: string): string {
  const inBody = findQuote(item.body, quote);
  const passage = unread.find(({ text }) => findQuote(text, quote) !== undefined);
  if (passage?.what === 'sql') return [path, passage.text, item.body].join('\n');
  return inBody === undefined
    ? [path, passage?.text ?? ''].join('\n')
    : paragraphAround(item.body, inBody.line, path);
}

function moveToEnd(paths: Set<string>, path: string): void {
  paths.delete(path);
  paths.add(path);
}

function sortFacts(facts: readonly UnmappedFact[]): UnmappedFact[] {
  return facts.toSorted((a, b) => (a.what < b.what ? -1 : 1));
}

function requireQuote(item: PendingItem, path: string, quote: string) {
  const found = locateQuote(item, quote);
  if (found !== undefined) return found;
  throw refusal(
    `The quote does not occur in ${path}, or is too short to say anything. Copy the words exactly as they stand there.`,
  );
}

/**
 * Where an item has the quote: in its body, or in a passage that code made of it, such as resolved
 * SQL.
 */
function locateQuote(
  { item, unread }: PendingItem,
  quote: string,
): { readonly location: string; readonly quote: string } | undefined {
  const inBody = findQuote(item.body, quote);
  if (inBody !== undefined) return { location: `line ${inBody.line}`, quote: inBody.quote };
  for (const { location, text } of unread) {
    const inPassage = findQuote(text, quote);
    if (inPassage !== undefined) return { location, quote: inPassage.quote };
  }
  return undefined;
}

/**
 * The body of a known claim that means the same, so that their evidence adds up; else the body
 * itself.
 */
function knownWording(snapshot: Snapshot, [subject, kind, body]: ProposedClaim): Json {
  const meaning = meaningKey({ kind, body });
  const same = snapshot
    .claims(subject)
    .find((claim) => claim.kind === kind && meaningKey(claim) === meaning);
  return same?.body ?? body;
}

/** Kinds whose body is text for people. */
const textKinds: ReadonlySet<ClaimKind> = new Set([
  'title',
  'definition',
  'rule',
  'description',
  'unit',
  'synonyms',
  'tags',
]);

/** Text for people on one line, without control characters; other bodies as they are. */
function normalizeText(kind: ClaimKind, body: Json): Json {
  if (!textKinds.has(kind)) return body;
  if (Array.isArray(body)) return body.map((member: Json) => normalizeText(kind, member));
  const text = (typeof body === 'string' ? body : '')
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  if (!/[\p{L}\p{N}]/u.test(text)) throw refusal(`The ${kind} says nothing.`);
  return text;
}
