import coefficients from './coefficients.json' with { type: 'json' };
import { featuresOf, type Candidate } from './features.ts';
import { sigmoid } from '../keys/find-keys.ts';

const candidatesPerColumn = 4;
/** Pairs below this are not worth a measurement. */
const leastProbability = 0.02;

export const groupByChild = (candidates: readonly Candidate[]): Candidate[][] => [
  ...Map.groupBy(candidates, ({ child }) => child).values(),
];

const odds = ({ probability }: { readonly probability: number }): number =>
  probability / (1 - probability);

/** Of the features, by their names. */
export type FeatureWeights = Readonly<Record<string, number>>;

/** By logistic regression, trained by `bench/relationships/train.ts`; the likeliest first, among equals the key at home, then the tightest. */
export function ranked(
  group: readonly Candidate[],
  weights: FeatureWeights = coefficients,
): (Candidate & { readonly probability: number })[] {
  const judged = group.map((candidate) => {
    const features = Object.entries(featuresOf(candidate));
    return {
      ...candidate,
      probability: sigmoid(
        features.reduce((sum, [name, value]) => sum + value * (weights[name] ?? 0), 0),
      ),
    };
  });
  return judged.sort((one, other) => {
    const [a, b] = [one.parent.column, other.parent.column];
    const order =
      other.probability - one.probability ||
      b.home - a.home ||
      a.profile.distinct - b.profile.distinct;
    return order || (a.id < b.id ? -1 : 1);
  });
}

/** The best pairs of each column; one alone where more keys fit equally well than could be told apart. */
export function selectForMeasurement(
  candidates: readonly Candidate[],
  weights?: FeatureWeights,
): Candidate[] {
  return groupByChild(candidates).flatMap((group) => {
    const likely = ranked(group, weights).filter(
      ({ probability }) => probability >= leastProbability,
    );
    const [first, next] = [likely[0], likely[candidatesPerColumn]];
    const isOpen = first !== undefined && next !== undefined && odds(first) < odds(next) * 1.1;
    return likely
      .slice(0, isOpen ? 1 : candidatesPerColumn)
      .map((candidate) => ({ ...candidate, isOpen }));
  });
}
