import { expect, test } from 'vitest';
import { introspectPostgres } from '../../src/warehouse/drivers/postgres/introspect.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';

interface PlanNode {
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Rows that a node of the plan read for nothing: of a nested loop, all pairs but those that match.
 */
const wasted = (node: PlanNode): number =>
  Math.max(
    ((node['Rows Removed by Join Filter'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) *
      node['Actual Loops'],
    ...(node.Plans ?? []).map(wasted),
  );

test('the catalog of many tables with comments is read without comparing each with each', async () => {
  const tables = 1000;
  const url = await createDatabase('catalog');
  // The server has no statistics of its catalog yet, as after a restore.
  const script = Array.from(
    { length: tables },
    (_, index) =>
      `CREATE TABLE t${index} (id int PRIMARY KEY, a text); COMMENT ON TABLE t${index} IS 'Table ${index}';`,
  );
  await runPostgres(url, script.join('\n'));
  const waste: number[] = [];
  const { tables: found } = await introspectPostgres(async (sql) => {
    const [row] = await runPostgres(url, `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`);
    const [{ Plan: plan }] = Object.values(row ?? {})[0] as [{ Plan: PlanNode }];
    waste.push(wasted(plan));
    return runPostgres(url, sql);
  }, {});
  expect(found).toHaveLength(tables);
  expect(found[7]?.comment).toMatch(/^Table \d+$/);
  expect(waste).toHaveLength(3);
  for (const rows of waste) expect(rows).toBeLessThan(50 * tables);
});
