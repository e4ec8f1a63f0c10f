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
  const { tables: found } = await introspectPostgres(async (sql, take) => {
    const [row] = await runPostgres(url, `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`);
    const [{ Plan: plan }] = Object.values(row ?? {})[0] as [{ Plan: PlanNode }];
    waste.push(wasted(plan));
    for (const each of await runPostgres(url, sql)) take(each);
  }, {});
  expect(found).toHaveLength(tables);
  expect(found[7]?.comment).toMatch(/^Table \d+$/);
  expect(waste).toHaveLength(4);
  for (const rows of waste) expect(rows).toBeLessThan(50 * tables);
});

test('columns are kept once for all tables that have them, and keys know them after a column was dropped', async () => {
  const url = await createDatabase('columns');
  await runPostgres(
    url,
    `CREATE TABLE a (old int, id int, size text CHECK (size IN ('S', 'L')), PRIMARY KEY (id)); ALTER TABLE a DROP COLUMN old;
     CREATE TABLE b (id int, a_id int REFERENCES a (id), size text, gone int, PRIMARY KEY (a_id, id)); ALTER TABLE b DROP COLUMN gone;
     ALTER TABLE b ADD COLUMN code text UNIQUE;
     CREATE TABLE c (id int, size text);`,
  );
  const { tables } = await introspectPostgres(async (sql, take) => {
    for (const row of await runPostgres(url, sql)) take(row);
  }, {});
  const [a, b, c] = tables;
  expect(a?.primaryKey).toEqual(['id']);
  expect(b?.primaryKey).toEqual(['a_id', 'id']);
  expect(b?.uniqueKeys).toEqual([['code']]);
  expect(b?.foreignKeys).toEqual([
    { columns: ['a_id'], to: { table: { schema: 'public', table: 'a' }, columns: ['id'] } },
  ]);
  expect(c?.columns[1]).toBe(b?.columns[2]);
  // What one table declares of its values is not said of the others.
  expect(a?.columns[1]?.values).toEqual(['S', 'L']);
  expect(c?.columns[1]?.values).toBeUndefined();
});

test('a domain over a domain has the type at the end, and one over an enum its labels', async () => {
  const url = await createDatabase('domains');
  await runPostgres(
    url,
    `CREATE DOMAIN positive AS int CHECK (VALUE > 0); CREATE DOMAIN small AS positive CHECK (VALUE < 9);
     CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN known_mood AS mood NOT NULL; CREATE TYPE nothing AS ENUM ();
     CREATE TABLE t (a small, b known_mood, c mood, d nothing, e small[]);`,
  );
  const { tables } = await introspectPostgres(async (sql, take) => {
    for (const row of await runPostgres(url, sql)) take(row);
  }, {});
  expect(tables[0]?.columns.map(({ type, values }) => [type, values])).toEqual([
    ['integer', undefined],
    ['string', ['sad', 'glad']],
    ['string', ['sad', 'glad']],
    ['string', undefined],
    ['unknown', undefined],
  ]);
});
