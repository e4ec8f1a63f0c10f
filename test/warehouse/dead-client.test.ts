import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { approve } from '../support/approve.ts';
import { startKtx } from '../support/ktx-process.ts';
import { readerOfMariadb, runMariadb } from '../support/mariadb.ts';
import { runPostgres } from '../support/postgres.ts';
import { cpuSeconds, processesWith } from '../support/processes.ts';
import { engines, isThere, makeDatabase, type TestDatabase } from '../support/warehouses.ts';

const rows = Array.from({ length: 300 }, (_, n) => `(${n})`).join(', ');
/** The name of this run's statement: one of an earlier run may still be at work on the server. */
const name = `endless_${randomBytes(4).toString('hex')}`;
/** Runs for minutes, sends nothing before its end, and can be found by its name. */
const endless = `SELECT count(*) AS ${name} FROM t AS a, t AS b, t AS c, t AS d, t AS e WHERE a.n + b.n + c.n + d.n + e.n < 0`;

/**
 * A statement may go on for this long. On a busy machine it may take ten times what a start of Node
 * takes there.
 */
const endMs = 1000;

async function startTimeOfNode(): Promise<number> {
  const started = performance.now();
  await promisify(execFile)(process.execPath, ['--eval', '']);
  return performance.now() - started;
}

/** How many statements or processes are at work for the database. */
async function countRunning({ engine, secret, config }: TestDatabase): Promise<number> {
  if (engine === 'postgres') {
    const sql = `SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%${name}%' AND pid <> pg_backend_pid()`;
    return (await runPostgres(secret, sql)).length;
  }
  if (engine === 'mysql') {
    const sql = `SELECT id FROM information_schema.processlist WHERE info LIKE '%${name}%' AND id <> connection_id()`;
    return (await runMariadb(secret, sql)).length;
  }
  const file = 'path' in config ? realpathSync(config.path) : '';
  return processesWith(file).filter((pid) => cpuSeconds(pid) > 0.5).length;
}

/** The login of a connection has SELECT and nothing else. */
async function urlFor({ engine, secret }: TestDatabase): Promise<string> {
  return engine === 'mysql' ? readerOfMariadb(secret) : secret;
}

describe.each(engines.filter(isThere))(
  'a ktx that is killed in the middle of a query on %s',
  (engine) => {
    let database: TestDatabase;
    afterEach(async () => {
      const files = 'path' in database.config ? processesWith(database.config.path) : [];
      for (const pid of files) if (pid !== process.pid) process.kill(pid, 'SIGKILL');
      await database.remove();
    });

    test('leaves nothing running a second later', async () => {
      database = await makeDatabase(
        engine,
        `CREATE TABLE t (n INTEGER); INSERT INTO t VALUES ${rows}`,
      );
      const config = JSON.stringify({ connections: { wh: database.config } });
      await writeFile(join(database.folder, 'ktx.yaml'), config);
      const env = { ...process.env, TEST_URL: await urlFor(database) };
      await approve(database.folder, env);
      const ktx = startKtx(['sql', endless, '--connection', 'wh', '--timeout', '100'], {
        cwd: database.folder,
        env,
      });
      await expect.poll(() => countRunning(database), { timeout: 15_000, interval: 50 }).toBe(1);
      const timeout = Math.max(endMs, 10 * (await startTimeOfNode()));
      ktx.kill();
      await ktx.ended;
      await expect.poll(() => countRunning(database), { timeout, interval: 50 }).toBe(0);
    });
  },
);
