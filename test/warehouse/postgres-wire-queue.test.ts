import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { openTransactions } from '../../src/warehouse/postgres-wire/transactions.ts';
import { createDatabase } from '../support/postgres.ts';
import { never } from '../support/warehouses.ts';

let connectionString: string;
beforeAll(async () => {
  connectionString = await createDatabase('queued');
});

/** With a login that may take a second. */
function open() {
  const transactions = openTransactions(
    { connectionString, connectionTimeoutMillis: 1000 },
    { title: 'Postgres', transactionSql: 'BEGIN READ ONLY', hintIfRunning: '' },
  );
  onTestFinished(() => transactions.close());
  const sleep = (seconds: number, signal = never) =>
    transactions.run({ signal }, (client) => client.query(`SELECT pg_sleep(${seconds})`));
  return sleep;
}

test('a statement that waits for a free connection is not one whose server is away', async () => {
  const sleep = open();
  await Promise.all(Array.from({ length: 4 }, () => sleep(0)));
  const ended = await Promise.allSettled(Array.from({ length: 16 }, () => sleep(0.6)));
  expect(ended.map(({ status }) => status)).toEqual(ended.map(() => 'fulfilled'));
});

test('a caller that goes while it waits takes no connection', async () => {
  const sleep = open();
  const running = Array.from({ length: 4 }, () => sleep(0.5));
  const abort = new AbortController();
  const waiting = sleep(0, abort.signal);
  abort.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'query_cancelled' });
  await Promise.all(running);
});
