import { withRivals } from './candidates.ts';
import coefficients from './coefficients.json' with { type: 'json' };
import { exactEvidence, featuresOf, type Candidate } from './features.ts';
import { sigmoid } from './keys.ts';
import { inclusionOf, measureAll } from './measure.ts';
import type { ScanContext } from './profile.ts';

const candidatesPerColumn = 4;
/** Pairs below this are not worth a measurement. */
const leastProbability = 0.02;

/**
 * Measures the best pairs of each column exactly, where the profiles do not prove them already; but not those of a column that
 * more keys fit equally well than could be told apart.
 */
export async function confirm(candidates: readonly Candidate[], context: ScanContext): Promise<Candidate[]> {
  const kept = byChild(candidates.filter((candidate) => !isMeant(candidate))).flatMap((group) => {
    const likely = ranked(group).filter(({ probability }) => probability >= leastProbability);
    const [first, next] = [likely[0], likely[candidatesPerColumn]];
    const isOpen = first !== undefined && next !== undefined && odds(first) < odds(next) * 1.1;
    return likely.slice(0, isOpen ? 1 : candidatesPerColumn).map((candidate) => ({ ...candidate, isOpen }));
  });
  const unproven = kept.filter(({ child, parent: { column }, values, isOpen }) => {
    return !isOpen && values.orphans === undefined && child.present > 0 && column.table.rows > 0;
  });
  const statements = unproven.map(({ child, parent }) => inclusionOf({ from: [child], to: [parent.column] }, context.warehouse.dialect));
  const results = await measureAll(statements, context);
  const measured = new Map(unproven.map((candidate, index) => [candidate, results[index]]));
  const updated = kept.map((candidate): Candidate => {
    const result = measured.get(candidate);
    return result ? { ...candidate, values: exactEvidence(result, candidate.parent) } : candidate;
  });
  return [...candidates.filter(isMeant), ...byChild(updated).flatMap(withRivals)];
}

/** A part of the values is meant for this parent: how many it holds of all says nothing. */
const isMeant = ({ typeColumn }: Candidate): boolean => (typeColumn?.tables.length ?? 0) > 0;

export const byChild = (candidates: readonly Candidate[]): Candidate[][] => [...Map.groupBy(candidates, ({ child }) => child).values()];

const odds = ({ probability }: { readonly probability: number }): number => probability / (1 - probability);

const weights = Object.entries(coefficients);

/** By logistic regression, trained by `bench/relationships/train.ts`; the likeliest first, among equals the key at home, then the tightest. */
export function ranked(group: readonly Candidate[]): (Candidate & { readonly probability: number })[] {
  const judged = group.map((candidate) => {
    const features: Readonly<Record<string, number>> = featuresOf(candidate);
    return { ...candidate, probability: sigmoid(weights.reduce((sum, [name, weight]) => sum + weight * (features[name] ?? 0), 0)) };
  });
  return judged.sort((one, other) => {
    const [a, b] = [one.parent.column, other.parent.column];
    const order = other.probability - one.probability || b.home - a.home || a.profile.distinct - b.profile.distinct;
    return order || (a.id < b.id ? -1 : 1);
  });
}
