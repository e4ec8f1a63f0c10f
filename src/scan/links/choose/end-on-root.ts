import { haveSameWords, isOfView, type ColumnFacts } from '../../facts/table-facts.ts';
import type { JudgedCandidate } from './choose-links.ts';
import { isSameLayer } from './prefer-layer.ts';

/** Of two tables with the same keys: the key of the one that adds to a row, to the row's own. */
type Roots = ReadonlyMap<ColumnFacts, ColumnFacts>;

/** How likely a table adds to the rows of another one whose keys it has, all of them. */
const added = 0.9;

/**
 * Some tables have the same keys, row by row: `node`, and `node_field_data` beside it. The one that
 * is called by fewer words, or by the key, has the rows; the others add to them, and what refers to
 * a row refers to that one.
 */
export function endOnRoot(groups: readonly (readonly JudgedCandidate[])[]): JudgedCandidate[][] {
  const roots = findRoots(groups.flat());
  return groups.map((group) => {
    const [first] = group;
    if (first === undefined || first.typeColumn !== undefined || roots.size === 0)
      return [...group];
    const accepted = group.find(({ status }) => status === 'accepted');
    const isAddition = roots.has(first.child);
    const root = roots.get(isAddition ? first.child : (accepted?.parent.column ?? first.child));
    return root === first.child || root === undefined
      ? group.map((candidate) => withoutAddition(candidate, roots))
      : movedTo(root, { group, accepted, isAddition });
  });
}

function findRoots(candidates: readonly JudgedCandidate[]): Roots {
  const pairs = candidates.flatMap((candidate): (readonly [ColumnFacts, ColumnFacts])[] => {
    const { child, parent } = candidate;
    if (!haveSameRows(candidate)) return [];
    if (isRootOf(parent.column, child)) return [[child, parent.column]];
    return isRootOf(child, parent.column) ? [[parent.column, child]] : [];
  });
  const additions = new Set(pairs.map(([addition]) => addition));
  return new Map(pairs.filter(([, root]) => !additions.has(root)));
}

function haveSameRows({ child, parent, values, isOwnKey }: JudgedCandidate): boolean {
  const { column, primary } = parent;
  const areKeys = isOwnKey && primary && child.table !== column.table && child.present > 0;
  const areTables = !isOfView(child) && !isOfView(column) && isSameLayer({ child, parent });
  // Distinct counts of large tables are estimates; the rows of two keys are counted.
  const isWhole =
    values.containment === 1 && values.orphans === 0 && child.table.rows === column.table.rows;
  return areKeys && areTables && isWhole && haveSameWords(child.parts, column.parts);
}

/** True for `users` beside `user_details`, and for `movies` beside `links` with a `movie_id`. */
function isRootOf(own: ColumnFacts, other: ColumnFacts): boolean {
  const [words, otherWords] = [own.table.parts.words, other.table.parts.words];
  if (isWithin(words, otherWords)) return true;
  return !isWithin(otherWords, words) && own.home >= 0.8 && other.home < 0.5;
}

const isWithin = (few: readonly string[], many: readonly string[]): boolean =>
  few.length < many.length && few.every((word) => many.includes(word));

/** A row refers to nothing that is added to it. */
function withoutAddition(candidate: JudgedCandidate, roots: Roots): JudgedCandidate {
  if (roots.get(candidate.parent.column) !== candidate.child || candidate.status === 'rejected')
    return candidate;
  const probability = candidate.probability * (1 - added);
  return { ...candidate, probability, status: 'rejected', why: 'that table adds to this one' };
}

function movedTo(
  root: ColumnFacts,
  {
    group,
    accepted,
    isAddition,
  }: {
    readonly group: readonly JudgedCandidate[];
    readonly accepted: JudgedCandidate | undefined;
    readonly isAddition: boolean;
  },
): JudgedCandidate[] {
  const meant = group.find(({ parent }) => parent.column === root);
  const isHeld = meant?.values.orphans === (accepted?.values.orphans ?? 0);
  if (meant === undefined || meant === accepted || !isHeld) return [...group];
  const likely = Math.max(isAddition ? added : 0, accepted?.probability ?? 0);
  return group.map((judged) => {
    if (judged === meant) {
      const probability = Math.max(likely, judged.probability);
      return { ...judged, probability, status: 'accepted', why: undefined };
    }
    if (judged !== accepted) return judged;
    const why = 'that table adds to the rows of another one';
    return { ...judged, probability: judged.probability * (1 - added), status: 'rejected', why };
  });
}
