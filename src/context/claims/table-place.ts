import { z } from 'zod';
import { canonicalJson } from '../../lib/json.ts';
import { isMapping } from '../merge/yaml-text.ts';
import type { Claim, Evidence } from './claim.ts';
import { parseSubject } from './subject.ts';

/** Which dataset a claims file is about, and where the catalog has its table. */
export interface TablePlace {
  readonly connection: string;
  readonly dataset: string;
  /** The file of the catalog, and the table in it. */
  readonly item: string;
  readonly location: string;
}

const placeLineSchema = z.strictObject({
  table: z.tuple([z.string(), z.string(), z.string(), z.string()]),
});

export const structureExtractor = 'structure@1';
/** Extractors that write the same evidence for everything that they say of a table. */
const origins = new Map<string, Evidence['origin']>([
  [structureExtractor, 'catalog'],
  ['keys@1', 'catalog'],
  ['relationships@1', 'catalog'],
  ['count@1', 'code'],
]);

/** The place of the table that the claims say exists; undefined if they name none, or several. */
export function findPlace(claims: readonly Claim[]): TablePlace | undefined {
  const places = claims.flatMap(({ subject, kind, evidence }): TablePlace[] => {
    const owner = kind === 'dataset' ? parseSubject(subject) : undefined;
    if (owner?.type !== 'dataset') return [];
    const { connection, dataset } = owner;
    return evidence.flatMap(({ extractor, item, location }) =>
      extractor === structureExtractor && item !== undefined && location !== undefined
        ? [{ connection, dataset, item, location }]
        : [],
    );
  });
  return places.length === 1 ? places[0] : undefined;
}

export function renderPlace({ connection, dataset, item, location }: TablePlace): string {
  return JSON.stringify({ table: [connection, dataset, item, location] });
}

/** Undefined if it is no line about the place. Throws if it is a damaged one. */
export function readPlace(value: unknown): TablePlace | undefined {
  if (!isMapping(value) || !('table' in value)) return undefined;
  const [connection, dataset, item, location] = placeLineSchema.parse(value).table;
  return { connection, dataset, item, location };
}

/** The evidence that a line names by its extractor alone. */
export function claimEvidence(
  extractor: string,
  place: Pick<TablePlace, 'connection'> & Partial<TablePlace>,
): Evidence {
  const { connection, item, location } = place;
  const origin = origins.get(extractor) ?? 'code';
  return {
    connection,
    ...(item !== undefined && { item }),
    ...(location !== undefined && { location }),
    origin,
    extractor,
    confidence: 1,
  };
}

/** The extractor, if it and the place say all of the evidence. */
export function shortEvidence(
  evidence: Evidence,
  place: TablePlace | undefined,
): string | undefined {
  const { extractor } = evidence;
  if (place === undefined || !origins.has(extractor)) return undefined;
  const short = claimEvidence(extractor, place);
  // Most evidence differs in one of these.
  const isLike = evidence.item === short.item && evidence.location === short.location;
  return isLike && canonicalJson(evidence) === canonicalJson(short) ? extractor : undefined;
}
