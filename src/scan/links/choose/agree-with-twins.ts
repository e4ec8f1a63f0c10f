import { isIdentifier } from '../../names/parse-name.ts';
import type { JudgedCandidate } from './choose-links.ts';

/** From this probability on, a column may refer to what its twin refers to. */
const leastProbability = 0.3;
/** How likely it refers to that if its twin does. */
const agreed = 0.65;

/**
 * Of `challenger_id` and `winner_id` neither names a table. If the values of one are so clear that
 * it is accepted, the other one refers to the same table, where that fits it best as well.
 */
export function agreeWithTwins(
  groups: readonly (readonly JudgedCandidate[])[],
): JudgedCandidate[][] {
  const accepted = groups.flat().filter((link) => link.status === 'accepted' && isMute(link));
  return groups.map((group) => {
    const [best, ...others] = group;
    if (best === undefined || best.status !== 'review' || !mayAgree(best)) return [...group];
    const hasTwin = accepted.some(
      ({ child, parent }) => child.table === best.child.table && parent === best.parent,
    );
    if (!hasTwin) return [...group];
    return [
      { ...best, status: 'accepted', probability: Math.max(agreed, best.probability) },
      ...others,
    ];
  });
}

/** True for a reference whose name does not name the other table. */
const isMute = ({ child, names, isOwnKey }: JudgedCandidate): boolean =>
  isIdentifier(child.parts) && names.best < 0.3 && !isOwnKey;

function mayAgree(link: JudgedCandidate): boolean {
  const { probability, why, values, typeColumn } = link;
  const isContained = values.containment === 1 && values.orphans === 0;
  const isFree = why === undefined && typeColumn === undefined;
  return isMute(link) && isFree && isContained && probability >= leastProbability;
}
