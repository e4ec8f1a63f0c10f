import { subjects } from '../context/claims/claim.ts';
import type { ClaimCollector, ItemPlace } from './claim-collector.ts';
import type { KnownDataset } from './table-finder.ts';

/** A question, look or dashboard of a BI tool. */
interface Exposure {
  /** With the tool and the number, so that it is the only one: `Paid (Looker look 7)`. */
  readonly name: string;
  readonly description: string;
  /** What it reads. */
  readonly tables: readonly KnownDataset[];
  readonly tags: readonly string[];
  readonly confidence: number;
}

/** Claims a term on the page of exposures, with the datasets behind it. */
export function claimExposure(
  { name, description, tables, tags, confidence }: Exposure,
  place: ItemPlace,
  collector: ClaimCollector,
): void {
  const subject = subjects.term(name);
  collector.addClaim(place, { subject, kind: 'title', body: name, confidence });
  collector.addClaim(place, { subject, kind: 'page', body: 'exposures', confidence });
  if (description !== '')
    collector.addClaim(place, { subject, kind: 'description', body: description, confidence });
  const refs = tables.map(({ connection, dataset }) => subjects.dataset(connection, dataset));
  const body = [...new Set(refs)].sort();
  if (body.length > 0) collector.addClaim(place, { subject, kind: 'refs', body, confidence });
  if (tags.length > 0)
    collector.addClaim(place, { subject, kind: 'tags', body: [...tags], confidence });
}
