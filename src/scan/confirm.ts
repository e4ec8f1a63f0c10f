import coefficients from './coefficients.json' with { type: 'json' };
import { withRivals } from './candidates.ts';
import { exactEvidence, featuresOf, type Candidate } from './features.ts';
import { inclusionOf, measureAll, type MeasureContext } from './measure.ts';
import { sigmoid } from './keys.ts';

const candidatesPerColumn = 4;
const odds = (probability: number): number => probability / (1 - probability);
/** Pairs below this are not worth a measurement. */
const leastProbability = 0.02;

export const byChild = (candidates: readonly Candidate[]): Candidate[][] => [...Map.groupBy(candidates, ({ child }) => child).values()];

/** Measures the best pairs of each column exactly; not those of a column that more keys fit equally well than could be told apart. */
export async function confirm(candidates: readonly Candidate[], context: MeasureContext): Promise<Candidate[]> {
  const kept = byChild(candidates).flatMap((group) => {
    const likely = ranked(group).filter(
      ({ candidate, probability }) => probability >= leastProbability || candidate.typeColumn !== undefined,
    );
    const [first, next] = [likely[0], likely[candidatesPerColumn]];
    const isOpen = first !== undefined && next !== undefined && odds(first.probability) < odds(next.probability) * 1.1;
    return likely.slice(0, isOpen ? 1 : candidatesPerColumn).map(({ candidate }) => ({ ...candidate, isOpen }));
  });
  const isUnproven = ({ child, parent, values }: Candidate): boolean =>
    values.orphans === undefined && child.present > 0 && parent.column.table.rows > 0;
  const measurable = kept.filter((candidate) => !candidate.isOpen && isUnproven(candidate));
  const statements = measurable.map(({ child, parent }) => inclusionOf({ from: [child], to: [parent.column] }, context.warehouse.dialect));
  const results = await measureAll(statements, context);
  const exact = new Map(measurable.map((candidate, index) => [candidate, results[index]]));
  const updated = kept.map((candidate) => {
    const measured = exact.get(candidate);
    return measured ? { ...candidate, values: exactEvidence(measured, candidate.parent) } : candidate;
  });
  return byChild(updated).flatMap(withRivals);
}

/** The likeliest first; among equals the key that is at home, then the tightest. */
export function ranked(group: readonly Candidate[]): { candidate: Candidate; probability: number }[] {
  const judged = group.map((candidate) => ({ candidate, probability: probabilityOf(candidate) }));
  return judged.sort(({ candidate: { parent: a }, probability: p }, { candidate: { parent: b }, probability: q }) => {
    const order = q - p || b.column.home - a.column.home || a.column.profile.distinct - b.column.profile.distinct;
    return order || (a.column.id < b.column.id ? -1 : 1);
  });
}

const weights: Readonly<Record<string, number>> = coefficients;

/** Probability that a candidate is a link: logistic regression, trained by `bench/relationships/train.ts`. */
function probabilityOf(candidate: Candidate): number {
  const features = Object.entries(featuresOf(candidate));
  return sigmoid(features.reduce((logit, [name, value]) => logit + value * (weights[name] ?? 0), 0));
}
