import { parseSubject } from '../../context/claims/subject.ts';
import type { Project } from '../open/open.ts';
import { openUsageWeights } from './joins.ts';
import type { ReviewedConflict } from './review.ts';

/** What is not known still counts a little: perhaps there is no history of queries. */
const unknownShare = 0.1;

/**
 * What a decision would change most comes first: how much people use the dataset, times how far the
 * numbers of the versions are apart. Equal ones keep their order.
 */
export async function sortByImpact(
  project: Project,
  conflicts: readonly ReviewedConflict[],
): Promise<readonly ReviewedConflict[]> {
  const connections = new Set(
    conflicts.flatMap(({ subject }) => parseSubject(subject)?.connection ?? []),
  );
  const weights = new Map(
    await Promise.all(
      [...connections]
        .filter((connection) => project.warehouses.includes(connection))
        .map(async (name) => [name, await openUsageWeights(project, name)] as const),
    ),
  );
  const impactOf = ({ subject, variants }: ReviewedConflict) => {
    const { connection = '', dataset = '' } = parseSubject(subject) ?? {};
    const uses = weights.get(connection)?.(dataset) ?? 0;
    return (unknownShare + uses) * (unknownShare + spreadOf(variants));
  };
  return conflicts
    .map((conflict) => ({ conflict, impact: impactOf(conflict) }))
    .toSorted((a, b) => b.impact - a.impact)
    .map(({ conflict }) => conflict);
}

/** How far the numbers are apart, as a share of the greatest: from 0 to 1. */
function spreadOf(variants: ReviewedConflict['variants']): number {
  const numbers = variants.flatMap(({ number }) => {
    const value = number?.value ?? null;
    const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof parsed === 'number' && Number.isFinite(parsed) ? [parsed] : [];
  });
  const greatest = Math.max(...numbers.map(Math.abs));
  if (numbers.length < 2 || greatest === 0) return 0;
  return Math.min(1, (Math.max(...numbers) - Math.min(...numbers)) / greatest);
}
