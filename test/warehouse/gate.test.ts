import * as fc from 'fast-check';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import type { DriverSession } from '../../src/warehouse/driver.ts';
import { createGate } from '../../src/warehouse/gate/gate.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import {
  type AnyEngine,
  enginesAndClickhouse,
  generous,
  isThere,
  makeDatabase,
  never,
  type TestDatabase,
} from '../support/warehouses.ts';

const fixtures: Readonly<Record<AnyEngine, string>> = {
  postgres: `CREATE TABLE t (a boolean, b int); INSERT INTO t VALUES (true, 2);
    CREATE TABLE "insert" ("delete" int, "update" int);
    CREATE FUNCTION evil() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN 1; END $$;
    CREATE FUNCTION upper(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN 1; END $$;
    CREATE FUNCTION evil_of(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN 1; END $$;
    CREATE FUNCTION evil_pair(int, int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN 1; END $$;
    CREATE FUNCTION evil_check(int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN true; END $$;
    CREATE FUNCTION evil_point(int) RETURNS point LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN '(1,1)'; END $$;
    CREATE OPERATOR ### (LEFTARG = int, RIGHTARG = int, FUNCTION = evil_pair);
    CREATE OPERATOR <@ (LEFTARG = int, RIGHTARG = int, FUNCTION = evil_pair);
    CREATE CAST (int AS point) WITH FUNCTION evil_point(int);
    CREATE DOMAIN dom AS int CHECK (evil_check(VALUE)); CREATE TYPE holds_dom AS (a dom); CREATE TABLE holds (a dom);
    CREATE TABLE users (id int, first text); CREATE TABLE other (id int, full_name text);
    CREATE FUNCTION full_name(users) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN 1; END $$;
    CREATE SCHEMA other; CREATE FUNCTION other.lower(text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN 1; END $$;`,
  sqlite: `CREATE TABLE t (a INTEGER, "delete" TEXT); INSERT INTO t VALUES (1, 'x');`,
  duckdb: `CREATE TABLE t (a INTEGER, b INTEGER); INSERT INTO t VALUES (1, 2);
    CREATE MACRO abs(x) AS current_setting('home_directory'); CREATE MACRO upper(x) AS (SELECT list(value) FROM duckdb_settings());
    CREATE MACRO range(n) AS TABLE FROM duckdb_settings();`,
  mysql: `CREATE TABLE t (a boolean, b int, "delete" int, "a;b" int); INSERT INTO t VALUES (true, 2, 3, 4);`,
  clickhouse: `CREATE TABLE t (a INTEGER NOT NULL, b INTEGER, c String) ENGINE = ReplacingMergeTree ORDER BY a;
    INSERT INTO t VALUES (1, 2, 'x'); CREATE TABLE u (a INTEGER);
    CREATE OR REPLACE FUNCTION evil_of AS (x) -> sleep(x);`,
};
const canary = 'CREATE TABLE canary (id INTEGER); INSERT INTO canary VALUES (1), (2), (3);';
const afterCanary: Readonly<Record<AnyEngine, string>> = {
  postgres: `CREATE FUNCTION rowf(canary) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN 1; END $$;`,
  sqlite: '',
  duckdb: '',
  mysql: ['evil', 'any_value']
    .map(
      (name) =>
        `CREATE FUNCTION ${name}() RETURNS int MODIFIES SQL DATA BEGIN DELETE FROM canary; RETURN 1; END;`,
    )
    .join(' '),
  clickhouse: '',
};
/** A server lets every login read the files of its folder for files: the gate alone refuses it. */
const engineLeaks: Partial<Record<AnyEngine, RegExp>> = { clickhouse: /file|apply/i };

interface Corpus {
  readonly dialects: Readonly<
    Record<AnyEngine, { readonly allow: readonly string[]; readonly reject: readonly string[] }>
  >;
}
interface Hostile {
  readonly dialects: Readonly<Record<AnyEngine, readonly string[]>>;
}
const corpus = readJson('read-only-sql.json') as Corpus;
const hostile = readJson('hostile-sql.json') as Hostile;
const analyst = readJson('analyst-sql.json') as Hostile & {
  readonly fixtures: Readonly<Record<AnyEngine | 'common', string>>;
};

describe.each(enginesAndClickhouse)('an analyst on %s', (engine) => {
  test.skipIf(!isThere(engine))('is let pass with everything that only reads', async () => {
    const database = await makeDatabase(
      engine,
      (engine === 'clickhouse' ? '' : analyst.fixtures.common) + analyst.fixtures[engine],
    );
    const warehouse = await database.open();
    const stopped: string[] = [];
    for (const sql of analyst.dialects[engine]) {
      await warehouse
        .query(sql, generous, never)
        .catch((error: unknown) => stopped.push(`${sql} → ${String(error)}`));
    }
    await warehouse.close();
    await database.remove();
    expect(stopped).toEqual([]);
  });
});

// The engines beside each other, since much of it is waiting for them; the cases of one in turn.
describe.concurrent.each(enginesAndClickhouse)('the gate on %s', (engine) => {
  describe.skipIf(!isThere(engine))('', { concurrent: false }, () => gateOn(engine));
});

function gateOn(engine: AnyEngine): void {
  let database: TestDatabase;
  let warehouse: Warehouse;
  let session: DriverSession;
  let before: string;
  let outside: string;

  beforeAll(async () => {
    const hasSequences = engine !== 'sqlite' && engine !== 'clickhouse';
    const sequence = hasSequences ? 'CREATE SEQUENCE s;' : '';
    database = await makeDatabase(
      engine,
      `${fixtures[engine]}${canary}${sequence}${afterCanary[engine]}`,
    );
    outside = join(database.folder, 'outside.csv');
    writeFileSync(outside, 'secret-of-the-file\n1\n');
    warehouse = await database.open();
    session = await database.openDriver();
    await warehouse.introspect({}, never);
    before = await database.fingerprint();
  });
  afterAll(async () => {
    await warehouse?.close();
    await session?.close();
    await database?.remove();
  });

  const attempt = async (
    run: () => Promise<unknown>,
  ): Promise<{ refusal: UserError | undefined; answer: string }> => {
    try {
      return { refusal: undefined, answer: JSON.stringify(await run()) };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return { refusal: error, answer: '' };
    }
  };
  const statements = (): string[] =>
    [...corpus.dialects[engine].reject, ...hostile.dialects[engine]].map((sql) =>
      sql.replaceAll('{file}', outside),
    );

  test.each(corpus.dialects[engine].allow)('lets pass %j', async (sql) => {
    const result = await warehouse.query(sql, generous, never);
    expect(result.columns.length).toBeGreaterThan(0);
  });

  test('refuses every hostile statement, and nothing inside or outside changes', async () => {
    const passed: string[] = [];
    for (const sql of statements()) {
      const { refusal } = await attempt(() => warehouse.query(sql, generous, never));
      if (!isRefused(refusal)) passed.push(`${sql} → ${refusal?.code ?? 'passed'}`);
    }
    expect(passed).toEqual([]);
    expect(await database.fingerprint()).toBe(before);
  });

  test('the parser refuses on its own every hostile statement', async () => {
    const passed: string[] = [];
    const { tables } = await session.introspect({}, never);
    for (const sql of statements()) {
      const { refusal } = await attempt(() =>
        createGate(session.policy, {
          dialect: session.dialect,
          allowedFunctions: [],
          loadTables: async () => tables,
        }).check(sql),
      );
      if (!isRefused(refusal)) passed.push(sql);
    }
    expect(passed).toEqual([]);
  });

  test('the engine and the driver on their own let nothing be changed and no file be read', async () => {
    const leaked: string[] = [];
    for (const sql of statements()) {
      const { answer } = await attempt(() =>
        session.run(
          sql,
          { maxRows: 50, timeoutMs: engine === 'mysql' || engine === 'clickhouse' ? 100 : 700 },
          never,
        ),
      );
      const isKnown = engineLeaks[engine]?.test(sql) === true;
      if (answer.includes('secret-of-the-file') && !isKnown) leaked.push(sql);
    }
    expect(leaked).toEqual([]);
    expect(await database.fingerprint()).toBe(before);
  });

  test('refuses writes wherever a grammar can put them', async () => {
    const writes = [
      'DELETE FROM canary',
      'UPDATE canary SET id = 0',
      'INSERT INTO canary VALUES (9)',
      'DROP TABLE canary',
      'CREATE TABLE x (a INT)',
    ];
    const calls = {
      postgres: ["pg_read_file('/etc/hostname')", 'public.evil()', "nextval('s')"],
      sqlite: ["load_extension('x')", "readfile('/etc/hostname')"],
      duckdb: ["getenv('HOME')", "nextval('s')"],
      clickhouse: ["file('/etc/hostname')", 'sleep(3)', "getSetting('readonly')", 'evil_of(1)'],
      mysql: ["load_file('/etc/hostname')", 'evil()', 'nextval(s)', 'sleep(5)'],
    }[engine];
    const shells = [
      (inner: string) => `WITH x AS (${inner}) SELECT * FROM x`,
      (inner: string) => `SELECT * FROM (${inner}) x`,
      (inner: string) => `SELECT (${inner})`,
      (inner: string) => `SELECT a FROM t WHERE EXISTS (${inner})`,
      (inner: string) => `SELECT a FROM t WHERE b IN (${inner})`,
      (inner: string) => `SELECT a FROM t ORDER BY (${inner})`,
      (inner: string) => `SELECT a FROM t LIMIT (${inner})`,
      (inner: string) => `SELECT coalesce((${inner}), 1)`,
      (inner: string) => `SELECT CASE WHEN (${inner}) IS NULL THEN 1 END`,
      (inner: string) => `${inner} UNION ALL SELECT 1`,
      (inner: string) => `SELECT 1 UNION ALL ${inner}`,
      (inner: string) => `EXPLAIN ${inner}`,
      (inner: string) => `SELECT 1; ${inner}`,
      (inner: string) => `${inner}; SELECT 1`,
      (inner: string) => `/* x */ ${inner} -- y`,
      (inner: string) => `SELECT sum(b) OVER (ORDER BY (${inner})) FROM t`,
    ];
    const core = fc.oneof(
      fc.constantFrom(...writes),
      fc.constantFrom(...calls).map((call) => `SELECT ${call}`),
    );
    const mutated = fc
      .tuple(
        core,
        fc.array(fc.constantFrom(...shells), { minLength: 0, maxLength: 3 }),
        fc.constantFrom<(sql: string) => string>(
          (sql) => sql,
          upperKeywords,
          withComments,
          withNewlines,
        ),
      )
      .map(([inner, wraps, mutate]) => mutate(wraps.reduce((sql, wrap) => wrap(sql), inner)));
    await fc.assert(
      fc.asyncProperty(mutated, async (sql) => {
        const { refusal } = await attempt(() =>
          warehouse.query(sql, { maxRows: 10, timeoutMs: 3000 }, never),
        );
        expect(isRefused(refusal), sql).toBe(true);
      }),
      { numRuns: 150 },
    );
    expect(await database.fingerprint()).toBe(before);
  });

  test('lets a function pass that the configuration lists, and only that', async () => {
    const name = {
      postgres: 'pg_backend_pid',
      sqlite: 'changes',
      duckdb: 'current_connection_id',
      mysql: 'connection_id',
      clickhouse: 'currentUser',
    }[engine];
    const open = await database.open({ allow_functions: [name] });
    try {
      expect((await open.query(`SELECT ${name}()`, generous, never)).rows).toHaveLength(1);
    } finally {
      await open.close();
    }
    await expect(warehouse.query(`SELECT ${name}()`, generous, never)).rejects.toMatchObject({
      code: 'gate_refused',
      details: { rule: 'function' },
    });
  });

  test('refuses a statement that is too long to be stopped in time', async () => {
    const long = `SELECT 1 WHERE 1 IN (${'1, '.repeat(40_000)}1)`;
    await expect(warehouse.query(long, generous, never)).rejects.toMatchObject({
      code: 'statement_too_long',
      exitCode: 2,
    });
  });

  test('refuses what is nested or chained without end, and goes on', async () => {
    const ctes = Array.from({ length: 201 }, (_, index) => `c${index} AS (SELECT 1)`).join(', ');
    for (const sql of [
      `SELECT 1${' + 1'.repeat(5000)}`,
      `SELECT ${'('.repeat(20_000)}1${')'.repeat(20_000)}`,
      `WITH ${ctes} SELECT 1`,
    ]) {
      const { refusal } = await attempt(() => warehouse.query(sql, generous, never));
      expect(isRefused(refusal), sql.slice(0, 40)).toBe(true);
    }
    expect((await warehouse.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
  });

  test('gives an answer up that is too large to keep, and goes on', async () => {
    const large = {
      postgres: [
        "SELECT repeat('x', 80000000)",
        "SELECT repeat('x', 1000000) FROM generate_series(1, 70)",
      ],
      sqlite: [
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 70) SELECT printf('%1000000d', n) FROM c",
      ],
      duckdb: [
        "SELECT repeat('x', 1000000) || a FROM t, unnest(generate_series(1, 70))",
        "SELECT {'a': [generate_series(1, a * 9000000)]} FROM t",
      ],
      clickhouse: [
        "SELECT repeat('x', 1000000) || toString(number) FROM numbers(70)",
        'SELECT range(9000000 + number) FROM numbers(2)',
      ],
      mysql: [
        "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 70) SELECT repeat('x', 1000000 + n) FROM c",
      ],
    }[engine];
    // What is large takes its time on a machine with much to do.
    const limits = { ...generous, timeoutMs: 120_000 };
    for (const sql of large) {
      await expect(warehouse.query(sql, limits, never)).rejects.toMatchObject({
        code: 'query_failed',
        message: expect.stringContaining('too large'),
      });
    }
    expect((await warehouse.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
  });

  test('names the rule, the thing and what is meant', async () => {
    await expect(warehouse.query('SELECT * FROM canari', generous, never)).rejects.toMatchObject({
      code: 'missing_object',
      message: expect.stringContaining('canari'),
      hint: expect.stringContaining('canary'),
      details: { rule: 'table' },
    });
    const system = {
      postgres: 'pg_catalog.pg_authid',
      sqlite: 'sqlite_master',
      duckdb: 'information_schema.tables',
      mysql: 'mysql.user',
      clickhouse: 'system.users',
    }[engine];
    for (const name of [system, warehouse.dialect.quote('out.csv')]) {
      await expect(warehouse.query(`SELECT * FROM ${name}`, generous, never)).rejects.toMatchObject(
        { code: 'gate_refused' },
      );
    }
    await expect(warehouse.query('DROP TABLE canary', generous, never)).rejects.toMatchObject({
      details: { rule: 'statement' },
    });
  });

  test('says where a text cannot be parsed, and sends nothing', async () => {
    for (const text of ["SELECT 'é😀',\n 1 + )", 'EXPLAIN SELECT\n 1 + )']) {
      await expect(warehouse.query(text, generous, never)).rejects.toMatchObject({
        code: 'sql_syntax',
        message: expect.stringMatching(/cannot (be )?parse.*line 2, column 6/),
        hint: expect.stringContaining('SQL'),
        details: { rule: 'parse' },
      });
    }
    await expect(warehouse.query('selec 1', generous, never)).rejects.toMatchObject({
      details: { rule: expect.any(String) },
    });
  });
}

/**
 * Refused before anything is sent, whatever the reason: only the gate names a rule in its details.
 */
function isRefused(refusal: UserError | undefined): boolean {
  const isOfGate =
    typeof refusal?.details === 'object' && refusal.details !== null && 'rule' in refusal.details;
  return isOfGate && ['gate_refused', 'sql_syntax', 'missing_object'].includes(refusal.code);
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../conformance/${name}`, import.meta.url), 'utf8'));
}

const upperKeywords = (sql: string): string =>
  sql.replace(/\b[a-z_]+\b(?=[^']*(?:'[^']*'[^']*)*$)/g, (word) => word.toUpperCase());
const withComments = (sql: string): string => sql.replaceAll(' ', ' /* ; */ ');
const withNewlines = (sql: string): string => sql.replaceAll(' ', '\n\t');
