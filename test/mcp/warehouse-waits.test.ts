import { Client } from 'pg';
import { expect, it } from 'vitest';
import { connect, serveRegions } from './http-shop.ts';
import { makePostgresShop } from './identity-shop.ts';

it('who waits for a connection to the warehouse is told so, while it waits and in the answer', async () => {
  const shop = await makePostgresShop('role');
  const limits = { requestsPerMinute: 1000, concurrentQueries: 100 };
  await using served = await serveRegions({ limits }, {}, shop.dir);
  const { text } = await served.tokens.create({
    name: 'ann',
    role: 'us',
    scopes: ['read', 'query'],
  });
  await using session = await connect(served.url, text);
  const sql = { sql: 'SELECT count(*) AS n FROM orders' };
  const alone = await session.client.callTool({ name: 'run_sql', arguments: sql });
  expect(JSON.stringify(alone)).not.toContain('waited');

  // Whoever asks for orders waits: four of them with all connections of the server.
  const owner = new Client({ connectionString: shop.owner });
  await owner.connect();
  await owner.query('BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE');
  const told: string[] = [];
  const { promise: isTold, resolve } = Promise.withResolvers<void>();
  const ask = (onprogress?: (progress: { message?: string | undefined }) => void) =>
    session.client.callTool({ name: 'run_sql', arguments: sql }, { onprogress });
  const busy = Array.from({ length: 4 }, () => ask());
  await expect
    .poll(async () => {
      const { rows } = await owner.query(
        `SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND relation = 'orders'::regclass`,
      );
      return (rows as readonly { n: number }[])[0]?.n;
    })
    .toBe(4);
  const waiting = ask(({ message = '' }) => {
    told.push(message);
    if (told.length === 2) resolve();
  });
  await isTold;
  await owner.query('ROLLBACK');
  await owner.end();
  expect(told[0]).toContain('waiting for a free connection to the warehouse');
  const { content, structuredContent, isError } = await waiting;
  expect(isError).toBe(false);
  expect(JSON.stringify(content.at(-1))).toMatch(/This call waited \d+ s for a free connection/);
  expect(JSON.stringify(structuredContent)).toMatch(/"notes":\["This call waited/);
  for (const answer of await Promise.all(busy))
    expect(JSON.stringify(answer)).not.toContain('for a free connection');
});
