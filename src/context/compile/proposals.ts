import { canonicalJson } from '../../lib/json.ts';
import { isProposal, isUnreviewed, shortId, type Claim } from '../claims/claim.ts';
import type { Pin } from '../claims/pins.ts';
import { parseSubject } from '../claims/subject.ts';

/**
 * The claims without the proposed metrics that nobody needs: where a source defines metrics of the
 * warehouse, all of them, and those that a model read too. What a person accepted stays.
 */
export function withoutNeedlessProposals(
  claims: readonly Claim[],
  pins: readonly Pin[],
): readonly Claim[] {
  const metrics = claims.filter(({ kind }) => kind === 'metric');
  if (!metrics.some(isProposal)) return claims;
  const accepted = new Set(pins.map(({ choose }) => choose));
  const isDefined = metrics.some(
    (claim) => isOfSource(claim) && !isUnreviewed(claim) && !isBuiltIn(claim),
  );
  const others = metrics.filter((claim) => !isProposal(claim));
  const definitions = new Set(others.flatMap((claim) => [claim.subject, definitionKey(claim)]));
  const isNeedless = (claim: Claim) =>
    claim.kind === 'metric' &&
    isProposal(claim) &&
    (isDefined || definitions.has(claim.subject) || definitions.has(definitionKey(claim))) &&
    !accepted.has(shortId(claim));
  return claims.filter((claim) => !isNeedless(claim));
}

/** True if it is not only a person's own. */
function isOfSource({ evidence }: Claim): boolean {
  return evidence.some(({ origin }) => origin === 'code');
}

/** True for the number of rows, which every dataset has. */
function isBuiltIn({ evidence }: Claim): boolean {
  return evidence.every(({ extractor }) => extractor.startsWith('count@'));
}

/** The dataset and what is computed, whatever the name. */
function definitionKey({ subject, body }: Claim): string {
  const { connection, dataset } = parseSubject(subject) ?? {};
  return canonicalJson([connection ?? '', dataset ?? '', body]);
}
