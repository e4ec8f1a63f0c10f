import { isProposal, shortId, subjects, type Claim } from '../claims/claim.ts';
import { findPin, noneOfThem, type Pin } from '../claims/pins.ts';
import { parseSubject } from '../claims/subject.ts';
import { meaningKey } from './meaning.ts';
import { ownDefinitions } from './own-definitions.ts';

interface SettledMetrics {
  /** All claims but those of possible metrics; what people accepted counts as theirs. */
  readonly claims: readonly Claim[];
  /** Metrics that are in no artifact until a person accepts them. Sorted by subject. */
  readonly proposed: readonly Claim[];
}

/**
 * Sorts out the metrics that people type again and again and that nobody has defined. A definition
 * that some metric of the dataset already has is not proposed, nor one that a person rejected.
 */
export function settleMetrics(claims: readonly Claim[], pins: readonly Pin[]): SettledMetrics {
  const accepted = ownDefinitions(pins).filter(({ kind }) => kind === 'metric');
  if (accepted.length === 0 && !claims.some(isPossible)) return { claims, proposed: [] };
  const others = claims.filter((claim) => !isPossible(claim));
  // What people type says more than names of columns.
  const defined = [...others, ...accepted].filter(
    (claim) => claim.kind === 'metric' && !isProposal(claim),
  );
  const names = new Set(defined.map(({ subject }) => subject));
  const meanings = new Set(defined.map(definitionKey));
  const proposed = claims
    .filter(
      (claim) =>
        isPossible(claim) &&
        !names.has(claim.subject) &&
        !meanings.has(definitionKey({ ...claim, kind: 'metric' })) &&
        !isRejected(claim, pins),
    )
    .toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
  return { claims: [...others, ...accepted], proposed };
}

function isPossible({ kind }: Claim): boolean {
  return kind === 'possible_metric';
}

function definitionKey(claim: Claim): string {
  const { connection = '', dataset = '' } = parseSubject(claim.subject) ?? {};
  return `${subjects.dataset(connection, dataset)} ${meaningKey(claim)}`;
}

function isRejected(claim: Claim, pins: readonly Pin[]): boolean {
  const pin = findPin(pins, { subject: claim.subject, kind: 'metric' });
  return pin?.choose === noneOfThem && pin.seen.includes(shortId(claim));
}
