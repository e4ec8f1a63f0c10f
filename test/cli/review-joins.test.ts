import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { ktx, ktxJson } from './run-cli.ts';

interface ListedJoin {
  readonly subject: string;
  readonly id: string;
  readonly to: string;
}

/** Orders with a column `handler`, which may well be the id of somebody of the staff. */
function shopWithDoubt(): string {
  const cwd = mkdtempSync(join(tmpdir(), 'ktx-joins-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(`CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, handler INTEGER, amount REAL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      INSERT INTO staff SELECT i, 'name ' || i FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO orders SELECT i, 1 + i * 7 % 40, i * 1.5 FROM n;`);
  db.close();
  return cwd;
}

test('a join in doubt is listed, accepted and rejected by command, and asked about no more', async () => {
  const cwd = shopWithDoubt();
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  appendFileSync(join(cwd, 'ktx.yaml'), 'scan: {accept: 0.99}\n');
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  const listed = async () => {
    const { envelope } = await ktxJson(['review', 'list'], { cwd });
    return (envelope.data as { joins: readonly ListedJoin[] }).joins;
  };
  const before = await listed();
  expect(before).toEqual([
    expect.objectContaining({ subject: 'relationship:warehouse.orders(handler)', to: 'staff' }),
  ]);
  const query = ['sl', 'query', '-m', 'orders.count', '-d', 'staff.name'];
  expect((await ktx(query, { cwd })).code).not.toBe(0);
  expect((await ktx(['review', 'list'], { cwd })).stdout).toMatch(
    /join in doubt +orders\.handler = staff\.id/,
  );

  expect((await ktx(['review', 'list'], { cwd })).stdout).toContain(
    'values without a match: none; the names resemble',
  );

  const unknown = await ktx(['review', 'accept', 'orders(handlr)'], { cwd });
  expect(unknown).toMatchObject({ code: 2 });
  expect(unknown.stderr).toContain('orders(handler)');

  const accepted = await ktx(['review', 'accept', 'orders(handler)', '--why', 'checked'], { cwd });
  expect(accepted).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('accepted') as string,
  });
  const file = () => readFileSync(join(cwd, 'semantic-layer/warehouse/orders.yaml'), 'utf8');
  expect(file()).toContain('to: staff');
  expect(readFileSync(join(cwd, 'pins.yaml'), 'utf8')).toContain('why: checked');
  expect(execFileSync('git', ['status', '--porcelain'], { cwd, encoding: 'utf8' })).not.toContain(
    'pins',
  );
  expect(await ktx(query, { cwd })).toMatchObject({ code: 0 });
  expect(await listed()).toEqual([]);
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  expect(file()).toContain('to: staff');

  expect(await ktx(['review', 'reject', 'orders(handler)'], { cwd })).toMatchObject({ code: 0 });
  expect(file()).not.toContain('to: staff');
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  expect(file()).not.toContain('to: staff');
  expect(await listed()).toEqual([]);
});
