import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scanConfigSchema } from '../../src/scan/config.ts';
import type { PlannedReads } from '../../src/scan/profile/budget.ts';
import { scan } from '../../src/scan/scan.ts';
import { driverNamed, warehouseConfigSchemas } from '../../src/warehouse/config.ts';
import { isLimitWarning } from '../../src/warehouse/spending.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import {
  everyEngine,
  generous,
  isThere,
  makeDatabase,
  never,
  type TestDatabase,
  type TestEngine,
} from '../support/warehouses.ts';

const script = `CREATE TABLE orders (id INTEGER, amount INTEGER);
  INSERT INTO orders VALUES ${Array.from({ length: 40 }, (_, at) => `(${at + 7000}, ${at})`).join(', ')};`;
const sql = 'SELECT max(amount) AS top FROM orders';
const readsRows = /\borders\b/i;

/**
 * Who keeps a statement within a limit of bytes. `estimate`: the engine says beforehand what it
 * would read, and ktx does not run it. `engine`: the engine ends it. `nobody`: the result says so.
 */
const guards: Readonly<Record<TestEngine, 'estimate' | 'engine' | 'nobody'>> = {
  bigquery: 'estimate',
  clickhouse: 'engine',
  databricks: 'estimate',
  duckdb: 'nobody',
  mysql: 'nobody',
  postgres: 'nobody',
  redshift: 'nobody',
  snowflake: 'estimate',
  sqlite: 'nobody',
  sqlserver: 'estimate',
  trino: 'estimate',
};
const engines = everyEngine.filter(isThere);
const estimating = engines.filter((engine) => guards[engine] === 'estimate');

test.each(everyEngine)('bytes have a price on %s where a limit of bytes holds', (engine) => {
  const schema = warehouseConfigSchemas.find(({ shape }) => shape.driver.value === engine);
  const takesPrice = 'usd_per_tib' in (schema?.shape ?? {});
  const { billed, tellsBytesRead = false } = driverNamed(engine);
  const holds = guards[engine] !== 'nobody';
  expect({ takesPrice, isBilledOnly: billed !== undefined && !holds }).toEqual({
    takesPrice: holds,
    isBilledOnly: false,
  });
  // Whoever counts bytes can hold a limit of them.
  expect(tellsBytesRead && !holds).toBe(false);
});

describe.each(engines)('on %s', (engine) => {
  let database: TestDatabase;
  let warehouse: Warehouse;
  beforeAll(async () => {
    database = await makeDatabase(engine, script);
    warehouse = await database.open();
  });
  afterAll(async () => {
    await warehouse?.close();
    await database?.remove();
  });
  const ranOverRows = () => database.ran().filter((statement) => readsRows.test(statement));

  test.skipIf(guards[engine] === 'nobody')('a limit of bytes holds', async () => {
    const tight = { ...generous, maxBytes: 1 };
    await expect(warehouse.query(sql, tight, never)).rejects.toMatchObject({
      code: 'too_expensive',
    });
    const enough = await warehouse.query(sql, { ...generous, maxBytes: 1_000_000 }, never);
    expect([enough.rows, enough.warnings]).toEqual([[[39]], []]);
  });

  test.skipIf(guards[engine] !== 'nobody')('a limit of bytes is said not to hold', async () => {
    const { rows, warnings } = await warehouse.query(sql, { ...generous, maxBytes: 1 }, never);
    expect(rows).toEqual([[39]]);
    expect(warnings).toEqual([expect.stringContaining('The limit of bytes has no effect: ')]);
    expect(warnings.every(isLimitWarning)).toBe(true);
    expect((await warehouse.query(sql, generous, never)).warnings).toEqual([]);
  });

  test.skipIf(!estimating.includes(engine))(
    'a statement over the limit is not run, with the estimate and the flag',
    async () => {
      const before = ranOverRows().length;
      const tight = { ...generous, maxBytes: 1 };
      await expect(warehouse.query(sql, tight, never)).rejects.toMatchObject({
        code: 'too_expensive',
        message: expect.stringMatching(
          /^Not run: the query (?:would read|could read up to|would read about) \d/,
        ),
        hint: expect.stringMatching(/--max-bytes \d+\w?B/),
        details: { bytes: expect.any(Number), limit: 1 },
      });
      expect(ranOverRows()).toHaveLength(before);
      await warehouse.query(sql, generous, never);
      expect(ranOverRows().length).toBeGreaterThan(before);
    },
  );

  test.skipIf(!estimating.includes(engine))('a statement over the price is not run', async () => {
    const priced = await database.open({ usd_per_tib: 5 }, { maxCostUsd: 1e-12 });
    const before = ranOverRows().length;
    try {
      await expect(priced.query(sql, generous, never)).rejects.toMatchObject({
        code: 'too_expensive',
        message: expect.stringMatching(/\(about \$[\d.e-]+\); the limit is/),
      });
      expect(ranOverRows()).toHaveLength(before);
    } finally {
      await priced.close();
    }
  });

  test.skipIf(guards[engine] === 'nobody')(
    'a scan says what it will read before it reads a row, and nothing if it will read nothing',
    async () => {
      const priced = await database.open({ usd_per_tib: 5 });
      const db = new DatabaseSync(':memory:');
      const plans: (PlannedReads & { readonly ranBefore: number })[] = [];
      const before = ranOverRows().length;
      const onPlan = (plan: PlannedReads) =>
        void plans.push({ ...plan, ranBefore: ranOverRows().length - before });
      const settings = { scope: {}, state: { db }, signal: never, onPlan };
      const config = scanConfigSchema.parse({});
      try {
        await scan({ warehouse: priced, config, ...settings });
        expect(plans).toEqual([
          {
            tables: 1,
            reads: expect.any(Number),
            usd: expect.any(Number),
            left: 0,
            ranBefore: 0,
          },
        ]);
        await scan({ warehouse: priced, config, ...settings });
        expect(plans).toHaveLength(1);
      } finally {
        await priced.close();
        db.close();
      }
    },
  );
});

test('engines whose bytes cost nothing have no plan', async () => {
  const database = await makeDatabase('duckdb', script);
  const warehouse = await database.open();
  const db = new DatabaseSync(':memory:');
  let plans = 0;
  try {
    await scan({
      warehouse,
      scope: {},
      state: { db },
      config: scanConfigSchema.parse({}),
      signal: never,
      onPlan: () => (plans += 1),
    });
    expect(plans).toBe(0);
  } finally {
    await warehouse.close();
    db.close();
    await database.remove();
  }
});
