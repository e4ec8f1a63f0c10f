import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toolEvidence } from '../../src/chat/tools/tool-evidence.ts';
import { rowsResult } from '../../src/cli/commands/query/sql.ts';
import { summarizeWarnings } from '../../src/warehouse/result/engine-warnings.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import {
  generous,
  isThere,
  makeDatabase,
  never,
  type TestDatabase,
} from '../support/warehouses.ts';

const countTo = (last: number): string =>
  `WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${last}) SELECT count(*) FROM c`;

describe.skipIf(!isThere('mysql'))('what MariaDB says about a result', () => {
  let database: TestDatabase;
  let warehouse: Warehouse;
  beforeAll(async () => {
    database = await makeDatabase(
      'mysql',
      "CREATE TABLE t (a int, c varchar(20), f float); INSERT INTO t VALUES (0, 'x', 123456.789), (0, 'x', 1.5);",
    );
    warehouse = await database.open();
  });
  afterAll(async () => {
    await warehouse.close();
    await database.remove();
  });

  test('a recursion is counted to its end', async () => {
    const result = await warehouse.query(countTo(5000), generous, never);
    expect(result).toMatchObject({ rows: [[5000]], truncated: false, warnings: [] });
  });

  test('a recursion that the server stops is an error, never fewer rows', async () => {
    const { readWarnings } = await import('../../src/warehouse/drivers/mysql/warnings.ts');
    const { runMariadb } = await import('../support/mariadb.ts');
    const rows = await runMariadb(database.secret, `${countTo(5000)}; SHOW WARNINGS`);
    await expect(readWarnings(async () => rows)).rejects.toMatchObject({
      code: 'query_failed',
      message: expect.stringContaining('max_recursive_iterations'),
    });
  });

  test('conversions, divisions by zero and shortened numbers are warnings, each once', async () => {
    const { warnings } = await warehouse.query('SELECT c + 1, 1 / a, f FROM t', generous, never);
    expect(warnings).toEqual([
      expect.stringContaining('f is a FLOAT'),
      "Truncated incorrect DOUBLE value: 'x' (2 times)",
      'Division by 0 (2 times)',
    ]);
  });

  test('a statement has no warning of the one before it', async () => {
    await warehouse.query("SELECT 'a' + 1", generous, never);
    await warehouse.query('SELECT no_column FROM t', generous, never).catch(() => undefined);
    expect((await warehouse.query('SELECT 1', generous, never)).warnings).toEqual([]);
  });
});

describe('what Postgres says about a result', () => {
  test('is part of it', async () => {
    const database = await makeDatabase('postgres', 'CREATE TABLE t (a int);');
    const warehouse = await database.open();
    const { warnings } = await warehouse.query(`SELECT 1 AS ${'a'.repeat(70)}`, generous, never);
    expect(warnings).toEqual([expect.stringContaining('will be truncated')]);
    expect((await warehouse.query('SELECT 1', generous, never)).warnings).toEqual([]);
    await warehouse.close();
    await database.remove();
  });
});

test('a warning reaches the notes and the JSON of a command, and the evidence of a chat', () => {
  const result = {
    queryId: 'q',
    columns: [],
    rows: [],
    truncated: false,
    warnings: ['odd'],
    ms: 1,
  };
  expect(rowsResult(result, {})).toMatchObject({
    data: { warnings: ['odd'] },
    notes: [expect.any(String), 'warning: odd'],
  });
  const answer = {
    summary: '',
    trust: { status: 'ad_hoc' },
    ran: { connection: 'wh', sql: 'SELECT 1' },
    details: { columns: [], warnings: ['likely wrong'] },
    warnings: ['odd'],
    items: [],
    values: () => [],
  } as const;
  const evidence = toolEvidence(answer, { id: 'q1', tool: 'run_sql', ms: 1 });
  expect(evidence?.warnings).toEqual(['likely wrong', 'odd']);
});

test('a warning cannot write to the terminal, and a thousand become a few', () => {
  const many = Array.from({ length: 1000 }, (_, index) => `value ${index}`);
  expect(summarizeWarnings(['a\u001b[31m\nb', 'a\u001b[31m\nb'])).toEqual(['a [31m b (2 times)']);
  expect(summarizeWarnings(many)).toHaveLength(9);
  expect(summarizeWarnings(many).at(-1)).toBe('992 more warnings.');
});
