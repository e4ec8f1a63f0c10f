import { describe, expect, test } from 'vitest';
import { postgresDriver } from '../../src/warehouse/drivers/postgres/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';
import { generous, never } from '../support/warehouses.ts';

async function withDatabase(
  script: string,
  work: (warehouse: Warehouse, url: string) => Promise<void>,
): Promise<void> {
  const url = await createDatabase('engines');
  await runPostgres(url, script);
  const config = postgresDriver.config.parse({ driver: 'postgres', url: 'env:URL' });
  const context = { connection: 'pg', projectDir: '/', cacheDir: '/', secrets: () => url };
  const warehouse = await openWarehouse({ ...context, config }, never);
  try {
    await work(warehouse, url);
  } finally {
    await warehouse.close();
  }
}

describe('a database with the schemas of TimescaleDB', () => {
  const script = `
    CREATE TABLE conditions (at timestamptz NOT NULL, place text, degrees float8);
    CREATE SCHEMA _timescaledb_internal; CREATE SCHEMA _timescaledb_catalog; CREATE SCHEMA _timescaledb_config;
    CREATE TABLE _timescaledb_internal._hyper_1_1_chunk (CHECK (at < '2024-02-01')) INHERITS (conditions);
    CREATE TABLE _timescaledb_internal._hyper_1_2_chunk (CHECK (at >= '2024-02-01')) INHERITS (conditions);
    CREATE TABLE _timescaledb_internal._materialized_hypertable_2 (bucket timestamptz, mean float8);
    CREATE TABLE _timescaledb_catalog.hypertable (id int); CREATE TABLE _timescaledb_config.bgw_job (id int);
    CREATE VIEW daily AS SELECT bucket, mean FROM _timescaledb_internal._materialized_hypertable_2;
    INSERT INTO _timescaledb_internal._hyper_1_1_chunk SELECT '2024-01-01', 'a', n FROM generate_series(1, 3000) n;
    INSERT INTO _timescaledb_internal._hyper_1_2_chunk SELECT '2024-02-01', 'b', n FROM generate_series(1, 2000) n;
    ANALYZE;`;

  test('shows hypertables and continuous aggregates, and hides what they are made of', () =>
    withDatabase(script, async (warehouse) => {
      const { tables } = await warehouse.introspect({}, never);
      expect(tables.map(({ schema, table, kind }) => `${schema}.${table} ${kind}`)).toEqual([
        'public.conditions table',
        'public.daily view',
      ]);
      await expect(
        warehouse.query('SELECT * FROM _timescaledb_catalog.hypertable', generous, never),
      ).rejects.toMatchObject({ code: 'gate_refused', details: { rule: 'table' } });
      const { rows } = await warehouse.query('SELECT count(*) FROM conditions', generous, never);
      expect(rows).toEqual([[5000]]);
    }));

  test('knows how large a hypertable is, and does not take it for unchanged', () =>
    withDatabase(script, async (warehouse) => {
      const [conditions] = (await warehouse.introspect({}, never)).tables;
      expect(conditions).toMatchObject({ rowEstimate: 5000, marker: undefined });
      expect(conditions?.bytes).toBeGreaterThan(100_000);
    }));
});

test('a table without heirs keeps its marker, one with heirs has none', () =>
  withDatabase(
    'CREATE TABLE alone (a int); CREATE TABLE parent (a int); CREATE TABLE child () INHERITS (parent); INSERT INTO child VALUES (1); ANALYZE',
    async (warehouse, url) => {
      const markers = async () =>
        (await warehouse.introspect({}, never)).tables.map(({ table, marker }) => [
          table,
          marker !== undefined,
        ]);
      expect(await markers()).toEqual([
        ['alone', true],
        ['child', true],
        ['parent', false],
      ]);
      await runPostgres(url, 'INSERT INTO child VALUES (2)');
      expect(await markers()).toHaveLength(3);
    },
  ));
