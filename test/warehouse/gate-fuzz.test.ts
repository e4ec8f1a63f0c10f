import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { createMariadb, runMariadb } from '../support/mariadb.ts';
import { runPostgres } from '../support/postgres.ts';
import {
  type EngineName,
  engines,
  generous,
  isThere,
  makeDatabase,
  never,
  type TestDatabase,
} from '../support/warehouses.ts';
import { diceOf, statement } from './fuzz/statements.ts';

/** Statements for each engine; `npm run fuzz:gate` sends more, from a seed of its own. */
const runs = Number(process.env['KTX_FUZZ_STATEMENTS'] ?? '600');
const firstSeed = Number(process.env['KTX_FUZZ_SEED'] ?? (runs > 600 ? Date.now() % 2 ** 31 : 1));
const limits = { maxRows: 20, timeoutMs: 500 };
/** Beyond its limit an engine has a second to stop; the rest is for a busy machine. */
const latest = 20_000;

const evil = (language: string, body: string) =>
  `CREATE FUNCTION evil() RETURNS int ${language} ${body};`;
const plpgsql = '$$ BEGIN DELETE FROM canary; RETURN 1; END $$';
const tables = `CREATE TABLE canary (id int); INSERT INTO canary VALUES (1), (2);
  CREATE TABLE t (a int, b int, c varchar(20), d date, ts timestamp, n decimal(10,2), ok boolean); INSERT INTO t VALUES (1, 2, 'x', '2024-01-02', '2024-01-02 03:04:05', 1.5, true);
  CREATE TABLE u (id int, a int, name varchar(20)); INSERT INTO u VALUES (1, 1, 'n');`;
const scripts: Readonly<Record<EngineName, string>> = {
  duckdb: `${tables} CREATE SEQUENCE s; CREATE TABLE with_default (a VARCHAR DEFAULT 'secret-of-the-catalog'); CREATE MACRO abs(x) AS current_setting('home_directory');`,
  sqlite: `${tables} CREATE VIEW v AS SELECT 'secret-of-the-catalog' AS never_read WHERE 0;`,
  postgres: `${tables} CREATE SEQUENCE s; ${evil('LANGUAGE plpgsql AS', plpgsql)} CREATE SCHEMA "secret-of-the-catalog";
    CREATE FUNCTION evil_pair(int, int) RETURNS int LANGUAGE plpgsql AS ${plpgsql}; CREATE OPERATOR ### (LEFTARG = int, RIGHTARG = int, FUNCTION = evil_pair);
    CREATE FUNCTION rowf(canary) RETURNS int LANGUAGE plpgsql AS ${plpgsql}; CREATE FUNCTION evil_check(int) RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN DELETE FROM canary; RETURN true; END $$; CREATE DOMAIN dom AS int CHECK (evil_check(VALUE)); SET ktx.secret = 'secret-of-the-setting';`,
  mysql: `${tables} CREATE SEQUENCE s; ${evil('MODIFIES SQL DATA', 'BEGIN DELETE FROM canary; RETURN 1; END')}`,
};
const read = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`../conformance/${name}.json`, import.meta.url), 'utf8'),
  ) as Corpora;
interface Corpora {
  readonly dialects: Readonly<
    Record<
      EngineName,
      readonly string[] & { readonly allow: readonly string[]; readonly reject: readonly string[] }
    >
  >;
}

function resultOf(outcome: unknown): 'refused' | 'failed' | 'answered' {
  if (!(outcome instanceof Error)) return 'answered';
  return outcome instanceof UserError && isOfGate(outcome) ? 'refused' : 'failed';
}

/** What no statement may do, whatever its outcome. */
function faultsOf(outcome: unknown, sql: string, ms: number): string[] {
  const text = JSON.stringify(outcome instanceof Error ? outcome.message : outcome);
  const isBug = outcome instanceof Error && !(outcome instanceof UserError);
  return [
    ...(ms > latest ? [`took ${Math.round(ms)} ms: ${sql}`] : []),
    ...(isBug ? [`${String(outcome)}: ${sql}`] : []),
    ...(text.includes('secret-of-') ? [`told a secret: ${sql}`] : []),
  ];
}

describe.each(engines)('whatever is sent to %s', (engine) => {
  test.skipIf(!isThere(engine))(
    `changes nothing, reads no file and no catalog, and ends in time (seed ${firstSeed})`,
    { timeout: 60_000 + runs * 60 },
    async () => {
      const database = await makeDatabase(engine, scripts[engine]);
      // What the catalogs of the whole server have of others.
      if (engine === 'mysql') await createMariadb('CREATE TABLE "secret-of-the-catalog" (a int)');
      const [file, out] = [join(database.folder, 'outside.csv'), join(database.folder, 'written')];
      writeFileSync(file, 'secret-of-the-file\n1\n');
      const warehouse = await database.open();
      await warehouse.introspect({}, never);
      const { reject } = read('read-only-sql').dialects[engine];
      const corpora = {
        hostile: [...reject, ...read('hostile-sql').dialects[engine]],
        legal: read('analyst-sql').dialects[engine],
      };
      const before = await database.fingerprint();
      const outcomes = { refused: 0, failed: 0, answered: 0 };
      const wrong: string[] = [];
      let sent: string[] = [];
      for (let run = 0; run < runs; run += 1) {
        const sql = statement(engine, corpora, diceOf(firstSeed * 7919 + run))
          .replaceAll('{file}', file)
          .replaceAll('{out}', out);
        const started = performance.now();
        const outcome = await warehouse.query(sql, limits, never).catch((error: unknown) => error);
        const ms = performance.now() - started;
        outcomes[resultOf(outcome)] += 1;
        wrong.push(...faultsOf(outcome, sql, ms));
        if (outcome instanceof UserError && isOfGate(outcome)) continue;
        sent.push(sql);
        if (isHarmful(outcome, sql)) wrong.push(`was sent: ${sql}`);
        if (sent.length % 500 === 0 || run === runs - 1) {
          if ((await database.fingerprint()) !== before || existsSync(out))
            wrong.push(`one of these changed something:\n${sent.join('\n')}`);
          sent = [];
        }
      }
      const after = await database.fingerprint();
      await expect.poll(() => busy(engine, database), { timeout: 20_000 }).toEqual([]);
      expect((await warehouse.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
      await warehouse.close();
      await database.remove();
      if (runs > 600) console.info(engine, JSON.stringify(outcomes));
      expect(wrong).toEqual([]);
      expect(after).toBe(before);
      expect(Math.min(outcomes.refused, outcomes.answered)).toBeGreaterThan(runs / 50);
    },
  );
});

/** Refused before anything is sent. */
function isOfGate({ code, details }: UserError): boolean {
  const isRule =
    typeof details === 'object' &&
    details !== null &&
    'rule' in details &&
    details.rule !== 'engine';
  return (
    isRule && ['gate_refused', 'sql_syntax', 'missing_object', 'statement_too_long'].includes(code)
  );
}

/**
 * What the engine had to stop: the gate should have known. No legal statement here takes half a
 * second.
 */
function isHarmful(outcome: unknown, sql: string): boolean {
  if (!(outcome instanceof UserError)) return false;
  return (
    outcome.code === 'gate_refused' ||
    (outcome.code === 'query_timeout' && /sleep|benchmark|lock|wait/i.test(sql))
  );
}

/** Statements that the server still works on. */
async function busy(engine: EngineName, database: TestDatabase): Promise<unknown[]> {
  if (engine === 'postgres')
    return runPostgres(
      database.secret,
      `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`,
    );
  if (engine !== 'mysql') return [];
  const own = `db = database() AND command = 'Query' AND id <> connection_id()`;
  return runMariadb(
    database.secret,
    `SELECT info FROM information_schema.processlist WHERE ${own}`,
  );
}
