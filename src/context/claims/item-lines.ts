import { z } from 'zod';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { isMapping } from '../merge/yaml-text.ts';
import { evidenceSchema, type Claim, type Evidence } from './claim.ts';

/**
 * What the evidence of one item has in common: everything but the place in it and the words there.
 * A claims file has one line for it, which the evidence of its claims names.
 */
export interface SharedEvidence {
  /** A hash of the rest, so that the lines of two branches fit together. */
  readonly id: string;
  readonly common: Evidence;
}

const restSchema = evidenceSchema
  .pick({ confidence: true, owner: true, dated: true, expires: true })
  .partial();
const fourTexts = [z.string(), z.string(), z.string(), z.string()] as const;
const itemLineSchema = z.strictObject({
  item: z.union([z.tuple(fourTexts), z.tuple([...fourTexts, restSchema])]),
});

/**
 * A quote is written as it is; or as what stands before and after the body in it; or as `true`,
 * where it is `<kind>: <body>`, as in YAML.
 */
const quoteSchema = z.union([z.string(), z.tuple([z.string(), z.string()]), z.literal(true)]);
type WrittenQuote = z.infer<typeof quoteSchema>;

/** The id of the item's line, the location in the item, and the quote if there is one. */
export const evidencePlaceSchema = z.union([
  z.tuple([z.string(), z.string().nullable()]),
  z.tuple([z.string(), z.string().nullable(), quoteSchema]),
]);
export type EvidencePlace = z.infer<typeof evidencePlaceSchema>;

type StatedFact = Pick<Claim, 'kind' | 'body'>;

/** Collects the lines of the items that the claims of a file name. */
export function collectItemLines() {
  const lines = new Map<string, string>();
  const ids = new Map<string, string | undefined>();
  const idOf = (common: CommonParts): string | undefined => {
    const key = canonicalJson(common);
    if (ids.has(key)) return ids.get(key);
    const id = itemId(common);
    // Two items of one hash, as hardly ever happens: the second one is written out.
    const isTaken = lines.has(id);
    const [connection, extractor, item, ...rest] = common;
    if (!isTaken)
      lines.set(id, canonicalJson({ item: [connection, extractor, item, id, ...rest] }));
    ids.set(key, isTaken ? undefined : id);
    return ids.get(key);
  };
  return {
    /** Undefined if the evidence has to be written out. */
    shorten(evidence: Evidence, claim: StatedFact): EvidencePlace | undefined {
      const common = commonParts(evidence);
      const id = common && idOf(common);
      if (id === undefined) return undefined;
      const { location = null, quote } = evidence;
      return quote === undefined ? [id, location] : [id, location, writeQuote(quote, claim)];
    },
    lines: () => [...lines.values()],
  };
}

type CommonParts = readonly [
  connection: string,
  extractor: string,
  item: string,
  ...rest: z.infer<typeof restSchema>[],
];

/** Undefined if somebody else than code says it, of no item, or with what only one claim has. */
function commonParts(evidence: Evidence): CommonParts | undefined {
  const { origin, item, measured, connection, extractor, ...rest } = evidence;
  if (origin !== 'code' || item === undefined || measured !== undefined) return undefined;
  const { confidence, location: _location, quote: _quote, ...others } = rest;
  const own = confidence === 1 ? others : { ...others, confidence };
  return Object.keys(own).length === 0
    ? [connection, extractor, item]
    : [connection, extractor, item, own];
}

const itemId = (common: CommonParts): string => shortHash(canonicalJson(common), 6);

/**
 * Undefined if it is no line about an item. Throws if it is a damaged one: also one under the id of
 * another item, whose claims it would take over.
 */
export function readItemLine(value: unknown): SharedEvidence | undefined {
  if (!isMapping(value) || !('item' in value)) return undefined;
  const [connection, extractor, item, id, rest] = itemLineSchema.parse(value).item;
  const named = [connection, extractor, item] as const;
  if (id !== itemId(rest === undefined ? named : [...named, rest]))
    throw new Error(`${id} is not the id of this item`);
  return { id, common: { connection, origin: 'code', extractor, item, confidence: 1, ...rest } };
}

/** The evidence that a claim names by its place in an item. */
export function evidenceInItem(
  [, location, written]: EvidencePlace,
  { common }: SharedEvidence,
  claim: StatedFact,
): Evidence {
  return {
    ...common,
    ...(location !== null && { location }),
    ...(written !== undefined && { quote: readQuote(written, claim) }),
  };
}

/** A shorter body can stand anywhere by chance. */
const shortestBody = 12;

function writeQuote(quote: string, { kind, body }: StatedFact): WrittenQuote {
  if (typeof body !== 'string') return quote;
  if (quote === `${kind}: ${body}`) return true;
  const at = body.length < shortestBody ? -1 : quote.indexOf(body);
  return at < 0 ? quote : [quote.slice(0, at), quote.slice(at + body.length)];
}

function readQuote(written: WrittenQuote, { kind, body }: StatedFact): string {
  if (typeof written === 'string') return written;
  const text = typeof body === 'string' ? body : '';
  return written === true ? `${kind}: ${text}` : written.join(text);
}
