import type { LinkFinding } from '../../../context/catalog/catalog.ts';
import type { ScanConfig } from '../../config.ts';
import { isOfView } from '../../facts/table-facts.ts';
import type { LinkCandidate } from '../link-candidate.ts';
import { polymorphicReason } from '../polymorphic.ts';
import { isSameLayer, preferOwnLayer, repeatsColumn } from './prefer-layer.ts';
import { rankCandidates, type RankedCandidate } from '../rank-candidates.ts';

export type JudgedCandidate = LinkCandidate &
  Pick<LinkFinding, 'probability' | 'status'> & { readonly why?: string | undefined };

/**
 * Decides about the candidates of one column. A column refers to one parent, so only the best can
 * be accepted.
 */
export function chooseLinks(
  candidates: readonly LinkCandidate[],
  config: ScanConfig,
): JudgedCandidate[] {
  const ranked = preferOwnLayer(tablesFirst(rankCandidates(candidates), config));
  const best = ranked[0]?.probability ?? 0;
  return ranked.map((candidate, index): JudgedCandidate => {
    if (candidate.typeColumn !== undefined) return judgePolymorphic(candidate, config);
    if (index > 0) {
      // If the best is right, no other is.
      const probability = candidate.probability * (1 - best);
      return { ...candidate, probability, status: 'rejected', why: 'another parent fits better' };
    }
    return judgeBest(candidate, config);
  });
}

/** A column refers to a view only if no table is likely. */
function tablesFirst(
  ranked: readonly RankedCandidate[],
  { review }: ScanConfig,
): readonly RankedCandidate[] {
  const ofTables = ranked.filter(({ parent, probability }) => {
    return probability >= review && !isOfView(parent.column);
  });
  return [...ofTables, ...ranked.filter((candidate) => !ofTables.includes(candidate))];
}

function judgePolymorphic(candidate: RankedCandidate, { review }: ScanConfig): JudgedCandidate {
  const { typeColumn, probability } = candidate;
  const why = polymorphicReason(typeColumn?.name);
  const isNamed = (typeColumn?.tables.length ?? 0) > 0;
  const status = isNamed || probability >= review ? 'review' : 'rejected';
  return { ...candidate, status, why };
}

function judgeBest(candidate: RankedCandidate, { accept, review }: ScanConfig): JudgedCandidate {
  const { probability, child, parent, isOwnKey } = candidate;
  const isView = [child, parent.column].map(isOfView);
  if (isOwnKey && (isView[1] === true || (isView[0] === true && !isSameLayer(candidate))))
    return { ...candidate, status: 'rejected', why: 'a view repeats the keys of its tables' };
  if (isView[0] === true && !child.parts.keyed && (isView[1] === true || !parent.primary))
    return { ...candidate, status: 'rejected', why: 'an attribute that a view repeats' };
  if (repeatsColumn(candidate))
    return { ...candidate, status: 'rejected', why: 'the same column of the same rows' };
  const why = reasonToDoubt(candidate);
  const status = probability < review ? 'rejected' : 'review';
  if (why === noRows) {
    const discounted = probability * nameOnlyDiscount(candidate);
    return { ...candidate, probability: discounted, status, why };
  }
  const isAccepted = probability >= accept && why === undefined;
  return { ...candidate, status: isAccepted ? 'accepted' : status, why };
}

const noRows = 'no rows to judge by';
/** So few values are found among most keys. */
const fewValues = 3;

/** The model is trained on columns with values; without values its probability is too high. */
function nameOnlyDiscount(candidate: LinkCandidate): number {
  if (isClearByName(candidate)) return 1;
  return candidate.isOwnKey || candidate.names.best < 0.75 ? 0.2 : 0.7;
}

/** Why a person should decide about a likely link; undefined if nothing speaks against it. */
function reasonToDoubt(candidate: LinkCandidate): string | undefined {
  const { child, parent, values, isOpen } = candidate;
  const { column } = parent;
  if (isOpen) return 'many keys fit equally well';
  if (child.present === 0 || column.table.rows === 0) return noRows;
  if (values.orphans === undefined) return 'not confirmed';
  const isTiny = child.profile.distinct < fewValues && child.present < 10;
  return isTiny && !isClearByName(candidate) ? 'too few rows to judge by' : undefined;
}

/**
 * True if the name alone proves the link: it names this parent and no other, and both columns look
 * like key and reference.
 */
function isClearByName({ child, parent, names, rivals, isOwnKey }: LinkCandidate): boolean {
  const { column, prior, primary } = parent;
  const hasSameName = names.best >= 0.9 && child.parts.words.at(-1) === column.parts.words.at(-1);
  const isAheadOfRivals = names.best >= 0.75 && names.best >= rivals.name + 0.1;
  const namesOnlyThis = isAheadOfRivals && (child.parts.keyed || names.full >= 0.95);
  const isKey = primary && prior > 0.55 && !column.away;
  const hasSameType = child.schema.type === column.schema.type;
  return (hasSameName || namesOnlyThis) && isKey && hasSameType && !isOwnKey;
}

/** If two columns refer to each other, only the likelier direction stays. */
export function removeCycles(candidates: readonly JudgedCandidate[]): JudgedCandidate[] {
  const remaining = candidates.filter(({ status }) => status !== 'rejected');
  const byDirection = new Map(
    remaining.map((candidate) => [
      `${candidate.child.id}>${candidate.parent.column.id}`,
      candidate,
    ]),
  );
  return candidates.map((candidate) => {
    const [child, parent] = [candidate.child.id, candidate.parent.column.id];
    const reverse = byDirection.get(`${parent}>${child}`);
    if (candidate.status === 'rejected' || !reverse) return candidate;
    const difference = candidate.probability - reverse.probability || (child < parent ? 1 : -1);
    if (difference >= 0) return candidate;
    const probability = candidate.probability * (1 - reverse.probability);
    return {
      ...candidate,
      probability,
      status: 'rejected',
      why: 'the other direction fits better',
    };
  });
}
