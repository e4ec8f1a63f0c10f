import type { ColumnFacts } from '../facts/table-facts.ts';
import type { ParentKey } from '../keys/find-keys.ts';
import type { NameMeanings } from './name-meanings.ts';

/** A key whose table means what the column is called. */
interface NearParent {
  readonly parent: ParentKey;
  /** True if no other table comes near it. */
  readonly isDistinct: boolean;
}

/** Fewer tables say nothing about what is near. */
const minTables = 5;
/**
 * A table is near if it is this many standard deviations above the average of all tables. Scales
 * differ by model.
 */
const minDeviations = 2;
const maxNear = 4;
/** The nearest table is distinct if it leads by this share of the whole range. */
const minLead = 0.1;

/**
 * Finds the keys whose table a column may mean although the names share no word; none without
 * meanings.
 */
export function findNearParents(
  parents: readonly ParentKey[],
  meanings: NameMeanings | undefined,
): (child: ColumnFacts) => readonly NearParent[] {
  if (meanings === undefined) return () => [];
  const primary = parents.filter((parent) => parent.primary);
  const cache = new Map<string, readonly NearParent[]>();
  return (child) => {
    const key = child.parts.entity.join(' ');
    const known = cache.get(key);
    if (known !== undefined) return known.filter(({ parent }) => parent.column !== child);
    const near = rankNear(child, primary, meanings);
    cache.set(key, near);
    return near.filter(({ parent }) => parent.column !== child);
  };
}

function rankNear(
  child: ColumnFacts,
  parents: readonly ParentKey[],
  meanings: NameMeanings,
): readonly NearParent[] {
  const ranked = parents
    .flatMap((parent) => {
      const similarity = meanings.similarity(child.parts, parent.column.table.parts);
      return similarity === undefined ? [] : [{ parent, similarity }];
    })
    .sort(
      (a, b) => b.similarity - a.similarity || (a.parent.column.id < b.parent.column.id ? -1 : 1),
    );
  if (ranked.length < minTables) return [];
  const similarities = ranked.map(({ similarity }) => similarity);
  const mean = similarities.reduce((sum, number) => sum + number, 0) / ranked.length;
  const variance = similarities.reduce((sum, number) => sum + (number - mean) ** 2, 0);
  const least = mean + minDeviations * Math.sqrt(variance / ranked.length);
  const [first = 0, second = 0] = similarities;
  const isLeading = first - second >= minLead * (first - (similarities.at(-1) ?? 0));
  return ranked
    .slice(0, maxNear)
    .filter(({ similarity }) => similarity > mean && similarity >= least)
    .map(({ parent }, index) => ({ parent, isDistinct: index === 0 && isLeading }));
}
