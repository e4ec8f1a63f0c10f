import type { ReadStatement } from '../history/read-statements.ts';
import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';

/**
 * The number of statements that join two columns, by `columnPairKey`. One that many people run, or
 * that runs often, counts twice.
 */
export type ObservedJoins = ReadonlyMap<string, number>;

export const columnPairKey = (a: ColumnFacts, b: ColumnFacts): string =>
  [a.id, b.id].sort().join('\n');

const manyUsers = 3;
const manyRuns = 50;

/** Counts the statements in which two columns have to be equal. */
export function countObservedJoins(
  statements: readonly ReadStatement[],
  tables: readonly TableFacts[],
): ObservedJoins {
  const byTable = new Map(tables.map((facts) => [facts.schema, facts]));
  const counts = new Map<string, number>();
  for (const { selects, runs, users } of statements) {
    const isCommon = users === undefined ? runs >= manyRuns : users >= manyUsers;
    const weight = isCommon ? 2 : 1;
    const joins = selects.flatMap((select) => select.joins);
    const pairs = joins.flatMap(([a, b]) => {
      const [left, right] = [a, b].map(({ table, column }) =>
        byTable.get(table)?.columns.find(({ name }) => name === column),
      );
      return left && right ? [columnPairKey(left, right)] : [];
    });
    for (const pair of new Set(pairs)) counts.set(pair, (counts.get(pair) ?? 0) + weight);
  }
  return counts;
}
