import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { postgresDriver } from '../../src/warehouse/drivers/postgres/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { PostgresTrick } from '../support/hostile-postgres.ts';
import { never } from '../support/warehouses.ts';

const program = join(import.meta.dirname, '../support/hostile-postgres.ts');
const children: (() => unknown)[] = [];
afterAll(() => {
  for (const end of children) end();
});

/** In a process of its own, so that the memory measured here is of ktx. */
async function openFrom(trick: PostgresTrick): Promise<unknown> {
  const child = spawn(process.execPath, [program, trick], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(() => child.kill('SIGKILL'));
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const host = '127.0.0.1';
  const config = postgresDriver.config.parse({
    driver: 'postgres',
    host,
    port: Number(String(port)),
    database: 'shop',
    user: 'reader',
  });
  const spec = { connection: 'pg', config, projectDir: '/', cacheDir: '/', secrets: () => '' };
  return openWarehouse(spec, never);
}

describe('a hostile Postgres server ends in an error', { timeout: 60_000 }, () => {
  test.for([
    ['endless-rows', /it sent more than 256 MiB at once/],
    ['endless-row', /it sent more than 256 MiB at once/],
    ['wrong-columns', /the server does not keep to the protocol/],
    ['notice-without-end', /an error or a notice has no end/],
    ['wrong-columns-at-login', /the server does not keep to the protocol/],
    ['endless-notices-at-login', /it sent more than 256 MiB at once/],
    ['error-without-end', /an error or a notice has no end/],
    ['short-login', /the server does not keep to the protocol/],
    ['negative-length', /a message has a negative length/],
    ['closes-mid-row', /Connection terminated unexpectedly/],
  ] as const)('%s', async ([trick, message]) => {
    const before = process.memoryUsage().rss;
    let highest = before;
    const watch = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss);
    }, 50);
    await expect(openFrom(trick)).rejects.toMatchObject({
      code: 'warehouse_unreachable',
      message: expect.stringMatching(message) as unknown,
    });
    clearInterval(watch);
    expect(highest - before).toBeLessThan(700_000_000);
  });
});
