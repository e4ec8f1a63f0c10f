import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { planScan } from '../../src/scan/plan-scan.ts';
import { scan } from '../../src/scan/scan.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';
import { never } from '../support/warehouses.ts';

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** `count` tables that refer to the one before. */
function tables(count: number): string {
  const rows = Array.from(
    { length: 40 },
    (_, n) => `(${n + 1}, ${(n % 30) + 1}, 'value ${n}')`,
  ).join(', ');
  const one = (n: number): string =>
    `CREATE TABLE entity_${n} (entity_${n}_id integer, entity_${Math.max(0, n - 1)}_ref integer, label varchar(20)); INSERT INTO entity_${n} VALUES ${rows};`;
  return Array.from({ length: count }, (_, n) => one(n)).join('\n');
}

describe('a scan', () => {
  const openPostgres = async (script: string) => {
    const url = await createDatabase('scan');
    await runPostgres(url, script);
    const context = {
      connection: 'wh',
      config: { driver: 'postgres' as const, url: 'env:URL' },
      projectDir: '.',
      cacheDir: '.',
    };
    const warehouse = await openWarehouse({ ...context, secrets: () => url }, never);
    const db = new DatabaseSync(':memory:');
    closing.push(
      () => db.close(),
      () => warehouse.close(),
    );
    const config = scanConfigSchema.parse({});
    const run = (changed = {}) =>
      scan({
        warehouse,
        scope: {},
        state: { db },
        config: { ...config, ...changed },
        signal: never,
      });
    const plan = (changed = {}) =>
      planScan({
        warehouse,
        scope: {},
        state: { db },
        config: { ...config, ...changed },
        signal: never,
      });
    const billed = { ...warehouse, usdPerTib: 2 ** 40 / 1_000_000_000 };
    const planBilled = () =>
      planScan({ warehouse: billed, scope: {}, state: { db }, config, signal: never });
    return { url, run, plan, planBilled };
  };

  test('asks of a warehouse in which one table changed what concerns that table, and finds the same', async () => {
    const { url, run } = await openPostgres(tables(40));
    const first = await run();
    expect(await run()).toMatchObject({ profiled: 0, reused: 40, queries: 4, links: first.links });
    await runPostgres(url, 'ALTER TABLE entity_7 ADD COLUMN colour text');
    const changed = await run();
    expect(changed).toMatchObject({ profiled: 1, reused: 39, links: first.links });
    expect(changed.queries).toBeLessThanOrEqual(3 + 1 + 4);
  });

  test('is planned to read what it then reads, within its budget', async () => {
    const { run, plan } = await openPostgres(`${tables(6)} ANALYZE;`);
    const limits = { max_bytes: 8192 * 4 };
    const first = await plan(limits);
    expect(first).toMatchObject({ reads: 8192 * 4, usd: undefined });
    expect(first.tables.map(({ outcome, reads }) => [outcome, reads])).toEqual([
      ...Array.from({ length: 4 }, () => ['profiled', 8192]),
      ['left', 0],
      ['left', 0],
    ]);
    const scanned = await run(limits);
    const read = (rows: readonly { table: string; outcome: string | undefined }[]) =>
      rows.filter(({ outcome }) => outcome === 'profiled').map(({ table }) => table);
    expect(
      read(scanned.tables.map(({ table, outcome }) => ({ table: table.table, outcome }))),
    ).toEqual(read(first.tables));
    const next = await plan(limits);
    expect(next.tables.map(({ outcome }) => outcome)).toEqual([
      ...Array.from({ length: 4 }, () => 'reused'),
      'profiled',
      'profiled',
    ]);
    await run();
    expect(await plan()).toMatchObject({ reads: 0 });
  });

  test('of a large table is planned as a sample, with what it costs', async () => {
    const { planBilled, url } = await openPostgres(`${tables(1)} ANALYZE;`);
    // The catalog's own estimate, as an ANALYZE of a billion rows would write it.
    await runPostgres(url, "UPDATE pg_class SET reltuples = 1e9 WHERE relname = 'entity_0'");
    const plan = await planBilled();
    expect(plan.tables[0]).toMatchObject({ rowEstimate: 1e9, outcome: 'profiled', reads: 41 });
    expect(plan.usd).toBeCloseTo(41 / 1_000_000_000, 12);
  });

  test('stops when its budget is spent, says what is left, and the next one goes on there', async () => {
    const { run, url } = await openPostgres(`${tables(40)} ANALYZE;`);
    const first = await run({ max_bytes: 8192 * 10 });
    expect(first).toMatchObject({ profiled: 10, reused: 0, left: 30 });
    expect(first.tables.find(({ outcome }) => outcome === 'left')?.table.table).toBe('entity_18');
    // Of what was not read nothing is guessed.
    const read = new Set(
      first.tables.flatMap(({ table, outcome }) => (outcome === 'left' ? [] : [table.table])),
    );
    const ends = first.links.flatMap(({ from, to }) => [from.table.table, to.table.table]);
    expect(ends.length).toBeGreaterThan(4);
    expect(ends.filter((table) => !read.has(table))).toEqual([]);
    expect(first.primaryKeys.filter(({ table }) => !read.has(table.table))).toEqual([]);
    expect(await run({ max_bytes: 8192 * 10 })).toMatchObject({
      profiled: 10,
      reused: 10,
      left: 20,
    });
    // The first table of a run is read whatever it costs.
    expect(await run({ max_seconds: 0.001 })).toMatchObject({ profiled: 1, reused: 20, left: 19 });
    const whole = await run();
    expect(whole).toMatchObject({ profiled: 19, reused: 21, left: 0 });
    // What an earlier scan saw of a changed table stands until its turn comes.
    await runPostgres(
      url,
      'ALTER TABLE entity_7 ADD COLUMN colour text; ALTER TABLE entity_8 ADD COLUMN colour text',
    );
    const cut = await run({ max_seconds: 0.001 });
    expect(cut).toMatchObject({ profiled: 1, left: 1 });
    expect(cut.links.filter(({ status }) => status === 'accepted')).toEqual(
      whole.links.filter(({ status }) => status === 'accepted'),
    );
  });

  test('tries a table that takes too long once more on a sample, and says of one that still does', async () => {
    const { run } = await openPostgres(
      `CREATE TABLE large AS SELECT i AS large_id, md5(i::text) || md5((i * 7)::text) AS label FROM generate_series(1, 700000) i; ANALYZE;
       CREATE VIEW slow AS SELECT 1 AS id FROM pg_sleep(30);`,
    );
    const { tables: found } = await run({ table_seconds: 0.5, views: true });
    const [large, slow] = found.map(({ profile }) => profile);
    expect(large).toMatchObject({ fraction: 0.01 });
    expect(large?.note).toBeUndefined();
    expect(large?.rows).toBeGreaterThan(1000);
    expect(slow?.note).toContain('0.5 s');
  });
});
