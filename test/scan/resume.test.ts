import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { scan } from '../../src/scan/scan.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import { folder, ktxJson } from '../cli/run-cli.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';
import { never } from '../support/warehouses.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');
const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const scanned = z.object({ profiled: z.number(), reused: z.number(), queries: z.number(), links: z.array(z.unknown()) });
const scanOf = async (cwd: string) => scanned.parse((await ktxJson(['scan'], { cwd })).envelope.data);

/** `count` tables that refer to the one before. */
function tables(count: number): string {
  const rows = Array.from({ length: 40 }, (_, n) => `(${n + 1}, ${(n % 30) + 1}, 'value ${n}')`).join(', ');
  const one = (n: number): string =>
    `CREATE TABLE entity_${n} (entity_${n}_id integer, entity_${Math.max(0, n - 1)}_ref integer, label varchar(20)); INSERT INTO entity_${n} VALUES ${rows};`;
  return Array.from({ length: count }, (_, n) => one(n)).join('\n');
}

describe('a scan', () => {
  test('that is killed goes on with the tables that it had not finished', async () => {
    const dir = folder();
    const db = new DatabaseSync(join(dir, 'many.sqlite'));
    db.exec(`BEGIN; ${tables(150)} COMMIT`);
    db.close();
    writeFileSync(join(dir, 'ktx.yaml'), 'connections:\n  many: {driver: sqlite, path: many.sqlite}\n');
    const child = spawn(process.execPath, [main, 'scan', '--json'], { cwd: dir, stdio: 'ignore' });
    const ended = once(child, 'exit');
    const finished = (): number => {
      try {
        const state = new DatabaseSync(join(dir, '.ktx/state.db'), { readOnly: true });
        const count = Number(state.prepare('SELECT count(*) AS n FROM scan_memo').get()?.['n']);
        state.close();
        return count;
      } catch {
        return 0;
      }
    };
    await expect.poll(finished, { timeout: 20_000, interval: 2 }).toBeGreaterThan(15);
    child.kill('SIGKILL');
    expect((await ended)[1]).toBe('SIGKILL');
    const before = finished();
    const resumed = await scanOf(dir);
    expect(before).toBeLessThan(150);
    expect(resumed).toMatchObject({ profiled: 150 - before, reused: before });
    const again = await scanOf(dir);
    expect(again).toMatchObject({ profiled: 0, reused: 150 });
    expect(again.queries).toBeLessThanOrEqual(5);
    expect(again.links).toEqual(resumed.links);
  });

  const openPostgres = async (script: string) => {
    const url = await createDatabase('scan');
    await runPostgres(url, script);
    const context = { connection: 'wh', config: { driver: 'postgres' as const, url: 'env:URL' }, projectDir: '.', cacheDir: '.' };
    const warehouse = await openWarehouse({ ...context, secrets: () => url }, never);
    const db = new DatabaseSync(':memory:');
    closing.push(() => db.close(), () => warehouse.close()); // prettier-ignore
    const config = scanConfigSchema.parse({});
    const run = (changed = {}) => scan({ warehouse, scope: {}, state: { db }, config: { ...config, ...changed }, signal: never });
    return { url, run };
  };

  test('asks of a warehouse in which one table changed what concerns that table, and finds the same', async () => {
    const { url, run } = await openPostgres(tables(40));
    const first = await run();
    expect(await run()).toMatchObject({ profiled: 0, reused: 40, queries: 3, links: first.links });
    await runPostgres(url, 'ALTER TABLE entity_7 ADD COLUMN colour text');
    const changed = await run();
    expect(changed).toMatchObject({ profiled: 1, reused: 39, links: first.links });
    expect(changed.queries).toBeLessThanOrEqual(3 + 1 + 4);
  });

  test('tries a table that takes too long once more on a sample, and says of one that still does', async () => {
    const { run } = await openPostgres(
      `CREATE TABLE large AS SELECT i AS large_id, md5(i::text) || md5((i * 7)::text) AS label FROM generate_series(1, 700000) i; ANALYZE;
       CREATE VIEW slow AS SELECT 1 AS id FROM pg_sleep(30);`,
    );
    const { tables: found } = await run({ table_seconds: 0.5, views: true });
    const [large, slow] = found.map(({ profile }) => profile);
    expect(large).toMatchObject({ fraction: 0.01 });
    expect(large?.note).toBeUndefined();
    expect(large?.rows).toBeGreaterThan(1000);
    expect(slow?.note).toContain('0.5 s');
  });
});
