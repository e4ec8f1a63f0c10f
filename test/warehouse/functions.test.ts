import { DuckDBInstance } from '@duckdb/node-api';
import { inject } from 'vitest';
import { describe, expect, test } from 'vitest';
import { duckdbFunctions } from '../../src/warehouse/drivers/duckdb/functions.ts';
import { postgresFunctions } from '../../src/warehouse/drivers/postgres/functions.ts';
import { runPostgres } from '../support/postgres.ts';

const missingFrom = (list: ReadonlySet<string>, known: ReadonlySet<unknown>): string[] =>
  [...list].filter((name) => !known.has(name));

describe('the list of functions that only compute', () => {
  test('of Postgres has, of what Postgres calls volatile or parallel-unsafe, only clocks and chance', async () => {
    const rows = await runPostgres(
      inject('postgresUrl'),
      `SELECT proname::text AS name, bool_or(provolatile = 'v' OR proparallel = 'u') AS effects FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace GROUP BY 1`,
    );
    const effects = rows
      .filter((row) => row['effects'] === true && postgresFunctions.has(String(row['name'])))
      .map(({ name }) => name);
    expect(effects.map(String).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'array_sample',
      'array_shuffle',
      'clock_timestamp',
      'gen_random_uuid',
      'random',
      'random_normal',
      'timeofday',
      'uuidv4',
      'uuidv7',
    ]);
    // These are grammar.
    const grammar = [
      'greatest',
      'grouping',
      'json_scalar',
      'least',
      'localtime',
      'localtimestamp',
      'nullif',
      'trim',
      'xmlconcat',
    ];
    expect(
      missingFrom(postgresFunctions, new Set([...rows.map(({ name }) => name), ...grammar])),
    ).toEqual([]);
  });

  test('of DuckDB has, of what DuckDB says has side effects, only chance and failing', async () => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const reader = await connection.runAndReadAll(
      'SELECT lower(function_name), bool_or(coalesce(has_side_effects, false)) FROM duckdb_functions() GROUP BY 1',
    );
    const rows = reader
      .getRows()
      .map(([name, effects]) => ({ name: String(name), effects: effects === true }));
    connection.closeSync();
    instance.closeSync();
    const effects = rows
      .filter(({ name, effects: has }) => has && duckdbFunctions.has(name))
      .map(({ name }) => name);
    expect(effects.toSorted((a, b) => a.localeCompare(b))).toEqual([
      'error',
      'gen_random_uuid',
      'random',
      'uuid',
      'uuidv4',
      'uuidv7',
    ]);
    const grammar = [
      'coalesce',
      'current_time',
      'current_timestamp',
      'grouping',
      'grouping_id',
      'if',
      'ifnull',
      'percentile_cont',
      'percentile_disc',
    ];
    expect(
      missingFrom(duckdbFunctions, new Set([...rows.map(({ name }) => name), ...grammar])),
    ).toEqual([]);
  });
});
