import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { generous, makeDatabase, never, type TestDatabase } from '../support/warehouses.ts';

const body = 'LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN 7; END $$';
const extensions =
  'pg_trgm unaccent hstore "uuid-ossp" fuzzystrmatch citext cube earthdistance pgcrypto tablefunc dblink xml2 lo'.split(
    ' ',
  );
const script = `${extensions.map((name) => `CREATE EXTENSION ${name};`).join(' ')}
  CREATE TABLE canary (id int); CREATE TABLE t (a int, c text); INSERT INTO t VALUES (1, 'x');
  CREATE TYPE mood AS ENUM ('a'); CREATE TABLE e (m mood, ms mood[]); INSERT INTO e VALUES ('a', '{a}');
  CREATE FUNCTION evil(mood) RETURNS int ${body}; CREATE CAST (mood AS int4) WITH FUNCTION evil(mood);
  CREATE FUNCTION evil_check(int) RETURNS int ${body}; CREATE DOMAIN dom AS int CHECK (evil_check(VALUE) = 7); CREATE TABLE holds (a dom);
  CREATE TABLE part (d int) PARTITION BY RANGE (d); CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (d);
  CREATE TABLE part_1a PARTITION OF part_1 FOR VALUES FROM (0) TO (5); INSERT INTO part VALUES (3);
  CREATE FUNCTION "Upper"(int) RETURNS int ${body};
  CREATE SCHEMA other; CREATE FUNCTION other.metaphone(text, int) RETURNS int ${body};
  CREATE FUNCTION added(int) RETURNS int ${body}; ALTER EXTENSION pg_trgm ADD FUNCTION added(int);
  CREATE FUNCTION added_sql(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'; ALTER EXTENSION pg_trgm ADD FUNCTION added_sql(int);
  CREATE ROLE owner_of_nothing_${process.pid}; CREATE FUNCTION lower(int) RETURNS int ${body};
  ALTER FUNCTION lower(int) OWNER TO owner_of_nothing_${process.pid}; ALTER EXTENSION pg_trgm ADD FUNCTION lower(int);
  CREATE FUNCTION owned(int) RETURNS int LANGUAGE sql IMMUTABLE RETURN 1;
  ALTER FUNCTION owned(int) OWNER TO owner_of_nothing_${process.pid}; ALTER EXTENSION pg_trgm ADD FUNCTION owned(int);`;

describe('the gate on Postgres', () => {
  let database: TestDatabase;
  let warehouse: Warehouse;
  beforeAll(async () => {
    database = await makeDatabase('postgres', script);
    warehouse = await database.open();
  });
  afterAll(async () => {
    await warehouse.close();
    await database.remove();
  });

  test.each([
    ["SELECT similarity('a', 'a'), unaccent('é'), levenshtein('a', 'b')", [[1, 'e', 1]]],
    [
      "SELECT public.similarity('a', 'a'), soundex('x'), ('x'::text).soundex",
      [[1, 'X000', 'X000']],
    ],
    ["SELECT hstore('a', 'b') -> 'a', length(uuid_generate_v4()::text)", [['b', 36]]],
    ["SELECT encode(digest('x', 'md5'), 'hex') = md5('x'), cube(1)::text", [[true, '(1)']]],
    ['SELECT earth_distance(ll_to_earth(1, 1), ll_to_earth(1, 1))', [[0]]],
    [
      "SELECT '{1,2}'::int[], x.a FROM json_to_recordset('[{\"a\":1}]') AS x(a int)",
      [['{1,2}', 1]],
    ],
    ['SELECT a::int4, c::text FROM t', [[1, 'x']]],
    ['SELECT d FROM part_1a UNION ALL SELECT d FROM public.part_1', [[3], [3]]],
  ])('lets pass %s', async (sql, rows) => {
    expect((await warehouse.query(sql, generous, never)).rows).toEqual(rows);
  });

  test.each([
    ['the cast of a user', 'SELECT m::int FROM e'],
    ['the cast of a user', "SELECT 'a'::mood::int"],
    ['the cast of a user', 'SELECT ms::int[] FROM e'],
    ['a function whose name differs only in case from a safe one', 'SELECT "Upper"(1)'],
    ['a function of an extension that has an effect', 'SELECT set_limit(0.1)'],
    ['a function of an extension that runs SQL', "SELECT * FROM crosstab('SELECT 1') AS x(a int)"],
    [
      'a function of an extension that runs SQL',
      "SELECT * FROM dblink('', 'SELECT 1') AS x(a int)",
    ],
    [
      'a function of an extension that runs SQL',
      "SELECT * FROM xpath_table('a','b','t','/','1=1') AS x(a int)",
    ],
    [
      'a function of an extension that makes rows',
      "SELECT populate_record(h, 'a=>1') FROM holds h",
    ],
    ['an operator of an extension that makes rows', "SELECT h #= 'a=>1'::hstore FROM holds h"],
    ['a name that an extension and a user share', "SELECT metaphone('a', 4)"],
    ['what a user added to an extension', 'SELECT added(1)'],
    ['what a user added to an extension', 'SELECT added_sql(1)'],
    ['what a user added to an extension', 'SELECT lower(1)'],
    ['what a user added to an extension', 'SELECT owned(1)'],
    ['a function of an extension that is not listed', "SELECT xpath_string('<a>x</a>', '/a')"],
    ['the names of all schemas', 'SELECT * FROM pg_inherits'],
  ])('refuses %s: %s', async (_, sql) => {
    await expect(warehouse.query(sql, generous, never)).rejects.toMatchObject({
      code: 'gate_refused',
    });
  });

  test('reads a partition as its table, so that rules for the table hold for it', async () => {
    expect(await warehouse.reads('SELECT d FROM part_1a')).toMatchObject([
      { schema: 'public', table: 'part' },
    ]);
  });
});
