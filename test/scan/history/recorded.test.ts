import { existsSync, readFileSync, rmSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { collectStatements } from '../../../src/scan/history/collect-statements.ts';
import { readQueryLogs } from '../../../src/scan/history/read-query-logs.ts';
import { matchesAny } from '../../../src/scan/history/service-accounts.ts';
import { statementTemplate } from '../../../src/scan/history/template.ts';
import { mysql } from '../../../src/sql/dialects/mysql.ts';
import { postgres } from '../../../src/sql/dialects/postgres.ts';
import { readRecordedRow } from '../../../src/warehouse/history/recorded-rows.ts';
import { temporaryFolder, write } from '../../store/git-project.ts';

const dir = temporaryFolder();
afterAll(() => rmSync(dir, { recursive: true }));

/** Rows as each warehouse exports them: one that counts, and those that do not. */
const recorded = {
  snowflake: [
    {
      QUERY_TEXT: "SELECT sum(amt) FROM od WHERE st = 'x'",
      USER_NAME: 'ANNA',
      QUERY_TYPE: 'SELECT',
      EXECUTION_STATUS: 'SUCCESS',
      QUERY_COUNT: 4,
    },
    {
      QUERY_TEXT: 'SELECT 1 FROM gone',
      USER_NAME: 'ANNA',
      QUERY_TYPE: 'SELECT',
      EXECUTION_STATUS: 'FAIL',
    },
    {
      QUERY_TEXT: 'INSERT INTO od SELECT 1',
      USER_NAME: 'ANNA',
      QUERY_TYPE: 'INSERT',
      EXECUTION_STATUS: 'SUCCESS',
    },
    {
      QUERY_TEXT: 'SELECT max(amt) FROM od',
      USER_NAME: 'SVC_LOADER',
      QUERY_TYPE: 'SELECT',
      EXECUTION_STATUS: 'SUCCESS',
    },
  ],
  bigquery: [
    {
      query: "SELECT sum(amt) FROM od WHERE st = 'y'",
      user_email: 'anna@example.org',
      job_type: 'QUERY',
      statement_type: 'SELECT',
      state: 'DONE',
      error_result: null,
    },
    {
      query: 'SELECT 1 FROM gone',
      user_email: 'anna@example.org',
      job_type: 'QUERY',
      statement_type: 'SELECT',
      state: 'DONE',
      error_result: { reason: 'notFound' },
    },
    { query: null, user_email: 'anna@example.org', job_type: 'LOAD', state: 'DONE' },
    {
      query: 'SELECT max(amt) FROM od',
      user_email: 'x@p.iam.gserviceaccount.com',
      job_type: 'QUERY',
      statement_type: 'SELECT',
    },
  ],
  clickhouse: [
    {
      query: 'SELECT sum(amt) FROM od WHERE st = 7',
      user: 'default',
      initial_user: 'anna',
      type: 'QueryFinish',
      query_kind: 'Select',
      is_initial_query: 1,
      normalized_query_hash: '1',
    },
    {
      query: 'SELECT sum(amt) FROM od WHERE st = 8',
      user: 'anna',
      type: 'QueryStart',
      query_kind: 'Select',
      is_initial_query: 1,
    },
    {
      query: 'SELECT 1 FROM gone',
      user: 'anna',
      type: 'ExceptionWhileProcessing',
      query_kind: 'Select',
    },
    {
      query: 'SELECT part FROM od',
      user: 'anna',
      type: 2,
      query_kind: 'Select',
      is_initial_query: 0,
    },
    { query: 'SELECT max(amt) FROM od', user: 'airbyte', type: 2, query_kind: 'Select' },
  ],
} as const;

describe('recorded histories', () => {
  test.each(Object.entries(recorded))(
    '%s: one question of one person counts',
    async (name, rows) => {
      write(dir, `${name}.jsonl`, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const files = await readQueryLogs([`${name}.jsonl`], dir);
      const { statements, users, leftOut } = collectStatements({ files }, undefined, postgres);
      expect(statements.map(({ template }) => template)).toEqual([
        'SELECT sum(amt) FROM od WHERE st = ?',
      ]);
      expect(statements[0]).toMatchObject({ users: 1, runs: name === 'snowflake' ? 4 : 1 });
      expect(leftOut).toEqual({ tool: 1 });
      expect(new Set(users.map(({ leftOut: why }) => why))).toEqual(new Set(['tool', undefined]));
    },
  );

  const shared = `${import.meta.dirname}/../../../../shared/data/sources/query-logs`;
  test.skipIf(!existsSync(shared))('true rows of each warehouse are read', () => {
    const read = (path: string): unknown[] => JSON.parse(readFileSync(`${shared}/${path}`, 'utf8'));
    const rowsOf = (path: string) =>
      read(path).map((entry) => (entry as { value: Record<string, unknown> }).value);
    const snowflake = rowsOf('snowflake/datahub_query_history_rows.json').map(readRecordedRow);
    expect(
      snowflake.map((row) => (row === undefined || row === 'unknown' ? row : row.sql)),
    ).toEqual([
      'SELECT * FROM test_table WHERE id = 1',
      'SELECT id, name FROM test_table',
      undefined,
    ]);
    const clickhouse = rowsOf('clickhouse/datahub_query_log_rows.json').map(readRecordedRow);
    expect(clickhouse.filter((row) => row === 'unknown')).toEqual([]);
    expect(clickhouse[1]).toBeUndefined();
    const bigquery = read('bigquery/datahub_query_log.json') as Record<string, unknown>[];
    expect(bigquery.length).toBeGreaterThan(50);
    expect(bigquery.map(readRecordedRow).filter((row) => row === 'unknown')).toEqual([]);
  });
});

describe('templates', () => {
  test('have no literal, in whatever way it is written', () => {
    const sql = `SELECT 'canary', "a b", $tag$canary$tag$, E'canary', 12.5e3, 0xCAFE, x AS y -- canary\n FROM t /* canary */ WHERE a IN (1, 2, 3) AND b = $1`;
    const template = statementTemplate(sql, postgres);
    expect(template).not.toMatch(/canary|12|CAFE|\d/);
    expect(template).toContain('"a b"');
    expect(template).toContain('a IN (?)');
    expect(statementTemplate('SELECT "canary" FROM `t`', mysql)).toBe('SELECT ? FROM `t`');
  });

  test('take linear time for hostile text', () => {
    const started = performance.now();
    for (const text of [
      "'".repeat(90_000),
      '$a$'.repeat(30_000),
      '/*'.repeat(45_000),
      '1,'.repeat(45_000),
      '?, '.repeat(30_000),
    ])
      statementTemplate(`SELECT ${text}`, postgres);
    expect(matchesAny('a'.repeat(50_000), ['*a*a*a*a*a*a*a*b'])).toBe(false);
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

test('logins and statements that the configuration names do not count', () => {
  const row = (sql: string, user: string, runs: number) => ({
    sql,
    runs,
    runsByUser: new Map([[user, runs]]),
  });
  const live = {
    statements: [
      row('SELECT a FROM t', 'anna', 9),
      row('SELECT b FROM t', 'nightly_7', 9),
      row('SELECT c FROM t', 'anna', 2),
      row('SELECT d FROM t', 'ben', 9),
      row('SELECT e FROM t\n/* ktx */', 'ben', 9),
    ],
    hidden: 0,
  };
  const config = {
    enabled: true,
    min_runs: 5,
    exclude_users: ['NIGHTLY_*'],
    exclude_statements: [],
  };
  const all = collectStatements({ live, files: [] }, config, postgres);
  expect(all.statements.map(({ sql }) => sql).sort()).toEqual([
    'SELECT a FROM t',
    'SELECT d FROM t',
  ]);
  expect(all.leftOut).toEqual({ user: 1, rare: 1, ktx: 1 });
  const [first] = all.statements;
  const fewer = collectStatements(
    { live, files: [] },
    { ...config, exclude_statements: [first?.id ?? ''] },
    postgres,
  );
  expect(fewer.statements).toHaveLength(1);
});
