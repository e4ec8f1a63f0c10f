import { isOfView } from '../facts/table-facts.ts';
import { sigmoid } from '../keys/key-candidates.ts';
import coefficients from './coefficients.json' with { type: 'json' };
import { countsOtherRows, featuresOf } from './features.ts';
import { type LinkCandidate, tightness } from './link-candidate.ts';

const candidatesPerColumn = 4;
/** Less likely pairs are not worth a measurement. */
const minProbability = 0.02;

export type RankedCandidate = LinkCandidate & { readonly probability: number };

/** The weight of each feature, by its name. */
export type FeatureWeights = Readonly<Record<string, number>>;

export const groupByChild = (candidates: readonly LinkCandidate[]): LinkCandidate[][] => [
  ...Map.groupBy(candidates, ({ child }) => child).values(),
];

/**
 * Computes probabilities by logistic regression and sorts the likeliest first; among equals a
 * column that is named after its table, then the key with fewer values.
 * `bench/relationships/train.ts` trains the weights.
 */
export function rankCandidates(
  candidates: readonly LinkCandidate[],
  weights: FeatureWeights = coefficients,
): RankedCandidate[] {
  const ranked = candidates.map((candidate) => {
    const features = Object.entries(featuresOf(candidate));
    const logit = features.reduce((sum, [name, value]) => sum + value * (weights[name] ?? 0), 0);
    return { ...candidate, probability: sigmoid(logit) };
  });
  return ranked.sort((first, second) => {
    const [a, b] = [first.parent.column, second.parent.column];
    const order =
      second.probability - first.probability ||
      b.home - a.home ||
      a.profile.distinct - b.profile.distinct;
    return order || (a.id < b.id ? -1 : 1);
  });
}

/**
 * The best pairs of each column, with tables and with views; only the first one if more keys fit
 * equally well than would be measured.
 */
export function selectForMeasurement(
  candidates: readonly LinkCandidate[],
  weights?: FeatureWeights,
): LinkCandidate[] {
  return groupByChild(candidates).flatMap((group) => {
    const ranked = rankCandidates(group, weights);
    const likely = ranked.filter(({ probability }) => probability >= minProbability);
    const ofTables = likely.filter(({ parent }) => !isOfView(parent.column));
    const views = likely.filter(({ parent }) => isOfView(parent.column));
    const selected = [...selectLikeliest(ofTables), ...selectLikeliest(views)];
    const parents = new Set(selected.map(({ parent }) => parent));
    const others = new Set([...selectTighter(ranked), ...selectCounted(ranked)]);
    return [...selected, ...[...others].filter(({ parent }) => !parents.has(parent))];
  });
}

/** Tables that the rows of a key may have been counted in, though its name is that of its own. */
function selectCounted(ranked: readonly RankedCandidate[]): LinkCandidate[] {
  const counted = ranked.filter(
    (candidate) =>
      candidate.isOwnKey && candidate.parent.primary && candidate.values.containment === 1,
  );
  return counted.filter((candidate) => countsOtherRows(candidate)).slice(0, 2);
}

/** Keys that the column keeps to rather than to those of the likeliest, however unlikely. */
function selectTighter([first, ...others]: readonly RankedCandidate[]): LinkCandidate[] {
  if (first === undefined) return [];
  return others.filter((candidate) => tightness(first, candidate) >= 1).slice(0, 2);
}

function selectLikeliest(likely: readonly RankedCandidate[]): LinkCandidate[] {
  const [first, next] = [likely[0], likely[candidatesPerColumn]];
  const isOpen = first !== undefined && next !== undefined && oddsOf(first) < oddsOf(next) * 1.1;
  return likely
    .slice(0, isOpen ? 1 : candidatesPerColumn)
    .map((candidate) => ({ ...candidate, isOpen }));
}

const oddsOf = ({ probability }: RankedCandidate): number => probability / (1 - probability);
