import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { envelopeSchema } from '../cli/run-cli.ts';
import { startKtx } from '../support/ktx-process.ts';
import { childrenOf, peakMemoryOf } from '../support/processes.ts';

/** More rows than a sample has, so that one is drawn. */
const rows = 6_000_000;
const wideColumns = 1000;

const dir = mkdtempSync(join(tmpdir(), 'ktx-large-'));
const given = { cwd: dir, env: { ...process.env, HOME: join(dir, 'home') } };
afterAll(() => rmSync(dir, { recursive: true }));

beforeAll(async () => {
  mkdirSync(given.env.HOME);
  const database = await DuckDBInstance.create(join(dir, 'large.duckdb'));
  const connection = await database.connect();
  const measures = Array.from({ length: 16 }, (_, index) =>
    index % 2 === 0
      ? `hash(i * ${index + 3}) % 100000 AS amount_${index}`
      : `'v' || hash(i + ${index}) % 5000 AS label_${index}`,
  );
  const wide = Array.from({ length: wideColumns - 1 }, (_, index) =>
    index % 2 === 0
      ? `hash(i * ${index + 3}) % ${100 + index * 50} AS number_${index}`
      : `hash(i) % ${index + 7} AS part_${index}_id`,
  );
  await connection.run(
    `CREATE TABLE customers AS SELECT i AS customer_id, 'c' || i AS name FROM range(50000) t(i);
     CREATE TABLE events AS SELECT i AS event_id, hash(i) % 50000 AS customer_id, ${measures.join()} FROM range(${rows}) t(i);
     CREATE TABLE wide AS SELECT i AS wide_id, ${wide.join()} FROM range(20000) t(i)`,
  );
  connection.closeSync();
  database.closeSync();
  const { code } = await startKtx(['setup', '--driver', 'duckdb', '--path', 'large.duckdb'], given)
    .ended;
  expect(code).toBe(0);
});

test('a scan of six million rows and of a thousand columns ends within its memory', async () => {
  const main = new URL('../../src/cli/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, 'scan', '--json'], {
    ...given,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = Promise.all([text(child.stdout), once(child, 'exit')]);
  const peaks = { ktx: 0, engine: 0 };
  while (child.exitCode === null && child.signalCode === null) {
    const pid = child.pid ?? 0;
    peaks.ktx = Math.max(peaks.ktx, peakMemoryOf(pid));
    peaks.engine = Math.max(peaks.engine, ...childrenOf(pid).map(peakMemoryOf));
    await sleep(250);
  }
  const [stdout] = await ended;
  const { data } = envelopeSchema.parse(JSON.parse(stdout));
  expect(peaks.ktx + peaks.engine).toBeLessThan(1024);
  const { links } = data as { links: readonly { from: object; to: object; status: string }[] };
  expect(links).toContainEqual(
    expect.objectContaining({
      from: { table: 'events', columns: ['customer_id'] },
      to: { table: 'customers', columns: ['customer_id'] },
      status: 'accepted',
    }),
  );
});
