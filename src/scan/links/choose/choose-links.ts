import type { LinkFinding } from '../../../context/catalog/catalog.ts';
import type { ScanConfig } from '../../config.ts';
import { isOfView } from '../../facts/table-facts.ts';
import type { LinkCandidate } from '../link-candidate.ts';
import { polymorphicReason } from '../polymorphic.ts';
import { preferTightest } from './prefer-tightest.ts';
import { preferOwnLayer } from './prefer-layer.ts';
import { countsOtherRows, peopleOfBoth, snugness } from '../features.ts';
import {
  isAmongDenseKeys,
  isClearByName,
  isOnlyValue,
  isYesOrNo,
  lacksValues,
  nameOnlyDiscount,
  noRows,
  reasonToDoubt,
} from './reasons-to-doubt.ts';
import { reasonToReject } from './reasons-to-reject.ts';
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
  const ranked = preferTightest(preferOwnLayer(tablesFirst(rankCandidates(candidates), config)));
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

function judgeBest(ranked: RankedCandidate, { accept, review }: ScanConfig): JudgedCandidate {
  const isProven =
    isNamedExtension(ranked) || isCountedElsewhere(ranked) || isJoinedByPeople(ranked);
  const least = isProven ? namedExtension : isNamedAndHeld(ranked) ? namedAndHeld : 0;
  const likely = Math.max(ranked.probability, least);
  const isDoubtful = [isAmongDenseKeys, lacksValues, isYesOrNo, isOnlyValue].some((doubt) =>
    doubt(ranked),
  );
  const probability = isDoubtful ? likely * doubtDiscount : likely;
  const candidate = { ...ranked, probability };
  const repeated = reasonToReject(candidate);
  if (repeated !== undefined) return { ...candidate, status: 'rejected', why: repeated };
  const why = reasonToDoubt(candidate);
  const status = probability < review ? 'rejected' : 'review';
  if (why === noRows) {
    const discounted = probability * nameOnlyDiscount(candidate);
    return { ...candidate, probability: discounted, status, why };
  }
  const isAccepted = probability >= accept && why === undefined;
  return { ...candidate, status: isAccepted ? 'accepted' : status, why };
}

/**
 * Of numbers that lie among dense keys and are not called a key, or that are not among them in
 * large part, so few refer to them.
 */
const doubtDiscount = 0.35;

/** So many statements that join two columns are no accident, if all values fit. */
const enoughStatements = 4;

function isJoinedByPeople({ seen, rivals, values, parent }: RankedCandidate): boolean {
  const isContained = values.containment === 1 && values.orphans === 0;
  return seen >= enoughStatements && rivals.seen === 0 && isContained && parent.primary;
}

/** However few keys it refers to, `person_id` is that of a person, if the values are. */
const namedAndHeld = 0.75;

const isNamedAndHeld = (ranked: RankedCandidate): boolean =>
  ranked.values.orphans !== undefined &&
  ranked.values.containment >= 0.95 &&
  ranked.child.parts.keyed &&
  isClearByName(ranked);

/**
 * The probability that a table whose key is called after another table extends that table, and of a
 * join that people use.
 */
const namedExtension = 0.8;

/**
 * True for `vendor(business_entity_id)`, however few business entities are vendors; and for
 * `sales_person(business_entity_id)`, of which each is in `employee(business_entity_id)`.
 */
function isNamedExtension({ parent, names, values, ...own }: RankedCandidate): boolean {
  const isContained = values.containment === 1 && values.orphans === 0 && own.child.present > 0;
  // A view of some rows is named like the table that extends another one.
  const isNamed = names.table >= 0.95 && own.child.home < (isOfView(own.child) ? 0.5 : 0.8);
  const isShared = names.same > 0 && own.child.away && parent.column.away;
  return own.isOwnKey && parent.primary && isContained && (isNamed || isShared);
}

/**
 * True for the key of cranes that are assets: it leaves numbers out and yet ends where the numbers
 * of the assets end, so the rows were not counted in their own table. In tables of people, fewer
 * rows say as much.
 */
function isCountedElsewhere(ranked: RankedCandidate): boolean {
  const { child, parent, values, isOwnKey, schema } = ranked;
  const isContained = values.containment === 1 && values.orphans === 0;
  const isOther = child.table !== parent.column.table && !schema.isClaimedByParent;
  if (!isOwnKey || !parent.primary || !isContained || !isOther) return false;
  const areViews = [child, parent.column].some(isOfView);
  const least = peopleOfBoth(child, parent.column) > 0 ? 0.2 : 0.55;
  return !areViews && countsOtherRows(ranked) && snugness(child, parent.column) >= least;
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
