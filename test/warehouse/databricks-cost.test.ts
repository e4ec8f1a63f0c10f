import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCost } from '../../src/warehouse/drivers/databricks/cost.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { type DatabricksServer, startDatabricks } from '../engines/databricks/server.ts';
import { openDatabricks } from '../support/databricks.ts';
import { generous, never } from '../support/warehouses.ts';

const answerOf = (text: string) => ({ columns: [], rows: [[text]], truncated: false });
const physical = '\n\n== Physical Plan ==\nAdaptiveSparkPlan isFinalPlan=false\n';
const planOf = (...lines: readonly string[]) =>
  answerOf(`== Optimized Logical Plan ==\n${lines.join('\n')}${physical}`);
const mebibyte = 2 ** 20;

describe('the sizes in an answer of EXPLAIN COST', () => {
  test('are those of the tables, not of what is computed from them', () => {
    const plan = planOf(
      'Aggregate [country#1], [country#1, sum(amount#2) AS s#3], Statistics(sizeInBytes=1.0 GiB)',
      '+- Join Inner, (id#4 = user#5), Statistics(sizeInBytes=8.0 EiB)',
      '   :- Filter isnotnull(id#4), Statistics(sizeInBytes=3.0 MiB, rowCount=5)',
      '   :  +- Relation main.shop.users[id#4,country#1] parquet, Statistics(sizeInBytes=4.5 MiB, rowCount=1.92E+7)',
      '   +- RelationV2[user#5, amount#2] main.shop.orders, Statistics(sizeInBytes=512.0 KiB)',
    );
    expect(readCost(plan)).toEqual({ bytes: 5 * mebibyte, kind: 'upper' });
  });

  test('count what is written in place of a table, and a CTE once', () => {
    const plan = planOf(
      'WithCTE, Statistics(sizeInBytes=8.0 EiB)',
      ':- CTERelationDef 0, false, Statistics(sizeInBytes=2.0 KiB)',
      ':  +- Relation a.b.c[x#1] parquet, Statistics(sizeInBytes=2.0 KiB)',
      '+- CTERelationRef 0, true, [x#2], false, Statistics(sizeInBytes=2.0 KiB)',
    );
    expect(readCost(plan).bytes).toBe(2048);
    expect(
      readCost(planOf('LocalRelation [a#1], Statistics(sizeInBytes=24.0 B, rowCount=2)')).bytes,
    ).toBe(24);
  });

  test.each([
    ['no statistics', planOf('Relation a.b.c[x#1] parquet, Statistics(sizeInBytes=8.0 EiB)')],
    ['a table without a size', planOf('Project [x#1]', '+- Relation a.b.c[x#1] parquet')],
    [
      'one of two unknown',
      planOf(
        'Union, Statistics(sizeInBytes=1.0 B)',
        ':- Relation a[x#1] parquet, Statistics(sizeInBytes=1.0 B)',
        '+- Relation b[x#2] parquet, Statistics(sizeInBytes=1.23E+5 EiB)',
      ),
    ],
    ['a plan without sizes', answerOf(physical)],
    ['an error', answerOf('Error occurred during query planning: \nno')],
    ['no rows', { columns: [], rows: [], truncated: false }],
  ])('are unknown: %s', (_, plan) => {
    expect(readCost(plan)).toEqual({ bytes: undefined, kind: 'upper' });
  });
});

describe('a workspace without statistics', () => {
  let server: DatabricksServer;
  let warehouse: Warehouse;
  beforeAll(async () => {
    server = await startDatabricks({
      script: 'CREATE TABLE many AS SELECT range AS n FROM range(9)',
    });
    server.rules.hasStatistics = false;
    warehouse = await openDatabricks(server);
  });
  afterAll(async () => {
    await warehouse?.close();
    await server?.close();
  });

  test('runs the statement, and says that the limit had no effect', async () => {
    const limits = { ...generous, maxBytes: 1 };
    const { rows, warnings } = await warehouse.query('SELECT max(n) FROM many', limits, never);
    expect(rows).toEqual([[8]]);
    expect(warnings).toEqual([expect.stringContaining('The limit of bytes has no effect: ')]);
  });

  test('refuses what is wrong as it does without a limit', async () => {
    const limits = { ...generous, maxBytes: 1 };
    await expect(warehouse.query('SELECT nothing FROM many', limits, never)).rejects.toMatchObject({
      code: 'missing_object',
    });
  });
});
