import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';
import type { LinkCandidate, SchemaEvidence } from './link-candidate.ts';

export type BareCandidate = Omit<LinkCandidate, 'rivals' | 'schema'>;

/** From this similarity on, a column is named after a table. */
const named = 0.7;
/** With less a name says nothing. */
const unnamed = 0.6;
/** A table holds a column if it has this share of its values. */
const held = 0.95;
/** Of two columns of one kind each refers to about as many keys as the other. */
const alike = 0.6;

/**
 * Adds to each candidate what the other columns of the schema say. Most tables that have a key of
 * their own are referred to: if no column is named after one, a column of another name may refer to
 * it. And of two columns of one kind (`opener`, `closer`), both refer to a table or neither does.
 */
export function addSchemaEvidence(
  candidates: readonly BareCandidate[],
): (BareCandidate & { readonly schema: SchemaEvidence })[] {
  const claimed = new Map<TableFacts, Set<TableFacts>>();
  for (const { child, parent, names, values } of candidates) {
    if (names.best < named || values.containment < held || child.present === 0) continue;
    const by = claimed.get(parent.column.table) ?? new Set();
    claimed.set(parent.column.table, by.add(child.table));
  }
  // Of a thousand columns of one table, only those with the same parent are compared.
  const likeTwins = new Map(
    [...Map.groupBy(candidates.filter(mayBeTwin), ({ child }) => child.table)].map(
      ([table, own]) => [table, Map.groupBy(own, ({ parent }) => parent)],
    ),
  );
  return candidates.map((candidate) => {
    const { child, parent } = candidate;
    const { table } = parent.column;
    const by = claimed.get(table) ?? new Set();
    const isUnclaimed = by.size === Number(by.has(table));
    const others = mayBeTwin(candidate) ? (likeTwins.get(child.table)?.get(parent) ?? []) : [];
    const twins = others.filter((twin) => isTwin(candidate, twin)).length;
    const isClaimedByParent = claimed.get(child.table)?.has(parent.column.table) === true;
    return { ...candidate, schema: { isUnclaimed, twins, isClaimedByParent } };
  });
}

function mayBeTwin({ child, parent, names, values, isOwnKey }: BareCandidate): boolean {
  const isHeld = values.containment >= held && child.present > 0 && parent.primary;
  return isHeld && names.best < unnamed && !isOwnKey;
}

function isTwin(candidate: BareCandidate, twin: BareCandidate): boolean {
  if (twin.child === candidate.child) return false;
  const shares = [candidate, twin].map(({ values }) => values.coverage);
  return (
    isSameKind(candidate.child, twin.child) && Math.min(...shares) >= alike * Math.max(...shares)
  );
}

function isSameKind(a: ColumnFacts, b: ColumnFacts): boolean {
  return a.family === b.family && a.parts.keyed === b.parts.keyed;
}
