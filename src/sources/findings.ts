import type { Claim, ClaimKind } from '../context/claims/claim.ts';
import type { Json } from '../lib/json.ts';
import { itemPath, type Extraction, type Item, type Unread } from './source.ts';

/** A place in an item, and what it says there. */
export interface Place {
  readonly key: string;
  /** From 1. */
  readonly line: number;
  readonly quote?: string | undefined;
}

/** What an extraction finds, collected item by item. */
export interface Findings {
  claim(place: Place, claim: Statement): void;
  problem(place: Pick<Place, 'key' | 'line'>, reason: string): void;
  unread(place: Pick<Place, 'key' | 'line'>, unread: Pick<Unread, 'what' | 'text'>): void;
  /** One an item, in the order of the items. */
  extractions(): readonly Extraction[];
}

interface Statement {
  readonly subject: string;
  readonly kind: ClaimKind;
  readonly body: Json;
  /** Below 1 for what is said in passing. */
  readonly confidence?: number;
}

const longestQuote = 300;

export function openFindings(
  items: readonly Item[],
  by: { readonly connection: string; readonly extractor: string },
): Findings {
  const empty = () => ({
    claims: [] as Claim[],
    problems: [] as { location: string; reason: string }[],
    unread: [] as Unread[],
  });
  const found = new Map(items.map(({ key, path }) => [key, { path, ...empty() }]));
  const at = ({ line }: Pick<Place, 'line'>) => `line ${line}`;
  return {
    claim: (place, { confidence = 1, ...claim }) => {
      const own = found.get(place.key);
      if (own === undefined) return;
      const quote = place.quote?.slice(0, longestQuote).trim();
      const said = quote ? { quote: quote.toWellFormed() } : {};
      const evidence = {
        connection: by.connection,
        origin: 'code',
        extractor: by.extractor,
        item: itemPath(by.connection, own.path),
      } as const;
      own.claims.push({
        ...claim,
        evidence: [{ ...evidence, location: at(place), ...said, confidence }],
      });
    },
    problem: (place, reason) =>
      found.get(place.key)?.problems.push({ location: at(place), reason }),
    unread: (place, unread) =>
      found.get(place.key)?.unread.push({ location: at(place), ...unread }),
    extractions: () =>
      items
        .map(({ key }) => ({ key, ...(found.get(key) ?? empty()) }))
        .map(({ key, claims, problems, unread }) => ({ key, claims, problems, unread })),
  };
}
