import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { useWriteAheadLog } from '../../src/store/shared/write-ahead-log.ts';

const dir = mkdtempSync(join(tmpdir(), 'ktx-wal-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Somebody else who is just creating the database. */
const creator = `
  const { DatabaseSync } = require('node:sqlite');
  const { workerData, parentPort } = require('node:worker_threads');
  const db = new DatabaseSync(workerData);
  db.exec('BEGIN EXCLUSIVE; CREATE TABLE t (n)');
  parentPort.postMessage('locked');
  setTimeout(() => { db.exec('COMMIT'); db.close(); }, 300);`;

test('a database that another process is creating is waited for', async () => {
  const path = join(dir, 'new.db');
  const worker = new Worker(creator, { eval: true, workerData: path });
  await once(worker, 'message');
  // As if SQLite refused at once, whatever the timeout.
  const db = new DatabaseSync(path, { timeout: 0 });
  useWriteAheadLog(db);
  expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  db.close();
});

test('what is not a lock is an error at once', () => {
  const db = new DatabaseSync(':memory:');
  db.close();
  expect(() => useWriteAheadLog(db)).toThrow('database is not open');
});
