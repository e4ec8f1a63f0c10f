import type { Claim, ClaimKind, Evidence } from '../../context/claims/claim.ts';
import { uniteClaims } from '../../context/claims/claims-file.ts';
import { meaningKey } from '../../context/compile/meaning.ts';
import type { Json } from '../../lib/json.ts';
import { itemPath } from '../../sources/source.ts';
import { readingVersion, type UnmappedFact } from '../fetch/item-files.ts';
import type { Snapshot } from '../project-snapshot.ts';
import { refusal } from './resolve-names.ts';
import { findQuote } from './find-quote.ts';
import type { PendingItem, WorkUnit } from './work-units.ts';

/** What became of an item on a session. */
export interface ItemOutcome {
  readonly claims: readonly Claim[];
  /** What the model says that it could not claim. */
  readonly unmapped: readonly UnmappedFact[];
}

const mostQueries = 12;

/** One thing said of a subject. */
export type Saying = readonly [subject: string, kind: ClaimKind, body: Json];

interface SessionOptions {
  readonly snapshot: Snapshot;
  /** Of every claim that is made here; at most 0.7. */
  readonly confidence: number;
  readonly signal: AbortSignal;
}

/**
 * The session of one work unit: its items, and the claims that were accepted. Nothing gets on it that does not quote an item of
 * the unit; what the claims speak of is checked by `propose.ts`.
 */
export type ProposalsSession = ReturnType<typeof openProposalsSession>;

export function openProposalsSession(
  { connection, items }: WorkUnit,
  { snapshot, confidence, signal }: SessionOptions,
) {
  const byPath = new Map(items.map((one) => [itemPath(connection, one.item.path), one]));
  const accepted = new Map<string, Claim[]>();
  const unmapped = new Map<string, UnmappedFact[]>();
  const taken = new Set<string>();
  let queries = 0;
  const itemAt = (path: string): PendingItem => {
    const found = byPath.get(path);
    if (found !== undefined) return found;
    throw refusal(`${path} is no item of this work unit. It has ${[...byPath.keys()].join(', ')}.`);
  };
  const evidenceOf = (path: string, quote: string): Evidence => {
    const { item, unread } = itemAt(path);
    const found = findQuote(item.body, quote);
    const elsewhere = found ? undefined : unread.find(({ text }) => findQuote(text, quote));
    const said = found?.quote ?? (elsewhere && findQuote(elsewhere.text, quote)?.quote);
    if (said === undefined) {
      throw refusal(
        `The quote does not occur in ${path}, or is too short to say anything. Copy the words exactly as they stand there.`,
      );
    }
    const location = found ? `line ${found.line}` : elsewhere?.location;
    return {
      connection,
      origin: 'model',
      extractor: readingVersion,
      item: path,
      location,
      quote: said,
      confidence,
    };
  };
  return {
    snapshot,
    signal,
    /** Paths of the unit's items, and where in them a model has to read. */
    list: () =>
      [...byPath].map(([path, { unread }]) => ({
        path,
        unread: unread.map(({ location }) => location),
      })),
    /** The text of an item of this unit. */
    text: (path: string): string => itemAt(path).item.body,
    /** Counts a query of the model; refuses it where the unit has had its share. */
    spendQuery(): void {
      queries += 1;
      if (queries > mostQueries)
        throw refusal(
          `This work unit has had its ${mostQueries} queries: decide with what is known.`,
        );
    },
    /** Notes that a proposal of this tool came through. */
    noteTaken: (tool: string): void => void taken.add(tool),
    hasTaken: (tool: string): boolean => taken.has(tool),
    /** Takes what the item says in those words; what is known to be meant alike keeps its wording, so that evidence adds up. */
    accept(
      { item, quote }: { readonly item: string; readonly quote: string },
      sayings: readonly Saying[],
    ): void {
      const evidence = [evidenceOf(item, quote)];
      const claims = sayings.map(([subject, kind, said]): Claim => {
        const body = plain(kind, said);
        const same = snapshot
          .claims(subject)
          .find((one) => one.kind === kind && meaningKey(one) === meaningKey({ kind, body }));
        return { subject, kind, body: same?.body ?? body, evidence };
      });
      accepted.set(item, [...(accepted.get(item) ?? []), ...claims]);
    },
    /** Fails where `accept` would. */
    requireQuote: ({ item, quote }: { readonly item: string; readonly quote: string }): void =>
      void evidenceOf(item, quote),
    reportUnmapped({ item, ...one }: UnmappedFact & { readonly item: string }): void {
      itemAt(item);
      unmapped.set(item, [...(unmapped.get(item) ?? []), one]);
    },
    /** By the key of the item; the same whatever the order in which it came. */
    outcomes: (): ReadonlyMap<string, ItemOutcome> =>
      new Map(
        [...byPath].map(([path, { item }]) => {
          const own = (unmapped.get(path) ?? []).toSorted((a, b) => (a.what < b.what ? -1 : 1));
          return [item.key, { claims: uniteClaims(accepted.get(path) ?? []), unmapped: own }];
        }),
      ),
  };
}

const texts: ReadonlySet<ClaimKind> = new Set([
  'title',
  'definition',
  'rule',
  'description',
  'unit',
  'synonyms',
  'tags',
]);

/** What people read is one line of plain text. */
function plain(kind: ClaimKind, body: Json): Json {
  if (!texts.has(kind)) return body;
  if (Array.isArray(body)) return body.map((one: Json) => plain(kind, one));
  const text = (typeof body === 'string' ? body : '')
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  if (!/[\p{L}\p{N}]/u.test(text)) throw refusal(`The ${kind} says nothing.`);
  return text;
}
