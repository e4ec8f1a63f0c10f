import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, expect, test } from 'vitest';
import { spillFolder } from '../../src/warehouse/drivers/duckdb/spill-folder.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import { never } from '../support/warehouses.ts';

const dir = mkdtempSync(join(tmpdir(), 'ktx-spill-'));
afterAll(() => rmSync(dir, { recursive: true }));

test('a statement that needs more memory than a scan has uses the disk, in a project that has no cache yet', async () => {
  const path = join(dir, 'large.duckdb');
  const database = await DuckDBInstance.create(path);
  const connection = await database.connect();
  await connection.run('CREATE TABLE numbers AS SELECT i FROM range(3000000) t(i)');
  connection.closeSync();
  database.closeSync();
  const cacheDir = join(dir, '.ktx/cache');
  writeFileSync(join(dir, 'ktx.yaml'), 'connections: {}\n');
  const warehouse = await openWarehouse(
    {
      connection: 'large',
      config: { driver: 'duckdb', path },
      projectDir: dir,
      cacheDir,
      secrets: () => '',
      workload: 'scan',
    },
    never,
  );
  const text = 'repeat(md5(i::varchar), 5)';
  const sql = `SELECT count(*) AS n FROM (SELECT lag(t) OVER (ORDER BY t) AS l FROM (SELECT ${text} AS t FROM numbers)) WHERE l IS NOT NULL`;
  const { rows } = await warehouse.query(sql, { maxRows: 1, timeoutMs: 300_000 }, never);
  expect(rows).toEqual([[2_999_999]]);
  // It holds values of the warehouse.
  expect(statSync(cacheDir).mode & 0o077).toBe(0);
  await warehouse.close();
  expect(readdirSync(cacheDir)).toEqual([]);
});

test('nothing is made where there is no project yet', () => {
  const project = join(dir, 'none');
  mkdirSync(project);
  spillFolder({ projectDir: project, cacheDir: join(project, '.ktx/cache') });
  expect(readdirSync(project)).toEqual([]);
});

test('what a killed process left on the disk is removed, and what a running one has stays', () => {
  const cacheDir = join(dir, 'cache');
  mkdirSync(cacheDir);
  const own = spillFolder({ projectDir: dir, cacheDir });
  const { pid: gone } = spawnSync(process.execPath, ['--version']);
  const left = join(cacheDir, basename(own).replace(`-${process.pid}-`, `-${gone}-`));
  const running = join(cacheDir, basename(own).replace(`-${process.pid}-`, `-${process.ppid}-`));
  for (const folder of [own, left, running]) mkdirSync(folder);
  expect(spillFolder({ projectDir: dir, cacheDir })).not.toBe(own);
  expect([own, left, running].map(existsSync)).toEqual([true, false, true]);
});
