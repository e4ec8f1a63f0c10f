import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { scanReport } from '../../src/scan/report.ts';
import { scan } from '../../src/scan/scan.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { makeDatabase, never, type TestDatabase } from '../support/warehouses.ts';

const dir = mkdtempSync(join(tmpdir(), 'ktx-query-logs-'));
let database: TestDatabase;
let warehouse: Warehouse;

/** Names that say nothing, and numbers that fit into every key. */
beforeAll(async () => {
  const filled = (table: string, count: number, values: string): string =>
    `CREATE TABLE ${table}; INSERT INTO ${table.replace(/\(.*/, '')} WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${count}) SELECT ${values} FROM s;`;
  const parents = ['p', 'q', 'r', 's', 'u'].map((name, index) =>
    filled(`${name}(${name}k integer, l text)`, 90 + index * 5, "i, 'v' || i"),
  );
  const fact = filled(
    'f(k integer, a integer, b integer, n integer)',
    400,
    'i, (i * 7) % 88 + 1, (i * 11) % 70 + 1, i % 9',
  );
  database = await makeDatabase('sqlite', [...parents, fact].join('\n'));
  warehouse = await database.open();
});
afterAll(async () => {
  await warehouse.close();
  await database.remove();
  rmSync(dir, { recursive: true });
});

async function scanned(logs: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(logs)) writeFileSync(join(dir, name), text);
  const db = new DatabaseSync(':memory:');
  try {
    const config = scanConfigSchema.parse({ query_logs: Object.keys(logs) });
    const { links } = scanReport(
      await scan({ warehouse, scope: {}, state: { db }, config, dir, signal: never }),
    );
    return links.flatMap(({ from, to, status, evidence }) =>
      status === 'accepted'
        ? [
            `${from.table}.${from.columns.join()} -> ${to.table}.${to.columns.join()}: ${JSON.stringify(evidence['queries_joining'])}`,
          ]
        : [],
    );
  } finally {
    db.close();
  }
}

test('joins that queries make are accepted where names and values say nothing, and the evidence counts the queries', async () => {
  expect(await scanned({})).toEqual([]);
  const log = `
    SELECT count(*) FROM f AS x JOIN q ON q.qk = x.a WHERE x.n > 3; -- all; of them
    select q.l, sum(f.n) from f, q where f.a = q.qk and f.n = 4 group by 1;
    SELECT 1 FROM (SELECT * FROM F LEFT JOIN "q" ON (f.a = "q".qk AND f.n <> 2)) AS inner_one;
    SELECT max(o.l) FROM f JOIN q AS o ON f.a = o.qk;
    WITH w AS (SELECT f.b FROM f JOIN s ON s.sk = f.b WHERE f.n = ';') SELECT * FROM w;
    SELECT s.l FROM main.f JOIN main.s ON f.b = s.sk ORDER BY 1;
    SELECT 1 FROM f INNER JOIN s ON f.b = s.sk;
    SELECT l FROM f JOIN s ON f.b = s.sk WHERE f.n IN (SELECT n FROM f);
    this is no SQL;
  `;
  expect(await scanned({ 'good.sql': log })).toEqual(['f.a -> q.qk: 4', 'f.b -> s.sk: 4']);
});

test('a line of JSON each is read too, and the same query with other literals counts once', async () => {
  const line = (query: string): string => `${JSON.stringify({ query, calls: 900 })}\n`;
  const again = Array.from({ length: 6 }, (_, index) =>
    line(`SELECT 1 FROM f JOIN q ON f.a = q.qk WHERE f.n = ${index} AND q.l = 'v${index}'`),
  );
  const others = ['f.n', 'q.l', 'count(*)', 'q.qk'].map((column) =>
    line(`SELECT ${column} FROM f JOIN q ON f.a = q.qk`),
  );
  expect(await scanned({ 'log.jsonl': [...again, ...others].join('') })).toEqual([
    // Each runs 900 times, and so counts twice.
    'f.a -> q.qk: 10',
  ]);
});

test('wrong joins are not believed: of columns whose values do not fit, of counters, of a table with itself, to what is no key', async () => {
  const wrong = ['f.k = q.qk', 'f.k = s.sk', 'f.n = q.l', 'f.a = q.l', 'f.k = f.k'].flatMap((on) =>
    [1, 2, 3, 4].map(
      (n) => `SELECT ${n}, max(f.n) AS m${'x'.repeat(n)} FROM f JOIN q ON ${on} JOIN s ON ${on};`,
    ),
  );
  const self = ['f.a = g.b', 'f.n = g.a', 'f.k = g.k'].map(
    (on) => `SELECT 1 FROM f JOIN f AS g ON ${on};`,
  );
  expect(await scanned({ 'wrong.sql': [...wrong, ...self].join('\n') })).toEqual([]);
});

test('a log that is not there, and a line without a statement, say so', async () => {
  await expect(scanned({ 'odd.jsonl': '{"text": "SELECT 1"}\n' })).rejects.toMatchObject({
    code: 'query_log_unreadable',
    message: expect.stringContaining('Line 1'),
  });
  const config = scanConfigSchema.parse({ query_logs: ['missing.sql'] });
  const db = new DatabaseSync(':memory:');
  await expect(
    scan({ warehouse, scope: {}, state: { db }, config, dir, signal: never }),
  ).rejects.toMatchObject({
    code: 'query_log_unreadable',
  });
  db.close();
});
