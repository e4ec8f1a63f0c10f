import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { mysqlDriver } from '../../src/warehouse/drivers/mysql/config.ts';
import { postgresDriver } from '../../src/warehouse/drivers/postgres/config.ts';
import { redshiftDriver } from '../../src/warehouse/drivers/redshift/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import { hasSlowCases } from '../slow-suites.ts';
import { mysqlPassword } from '../support/hostile-mysql.ts';
import { never } from '../support/warehouses.ts';

const children: (() => unknown)[] = [];
const folder = mkdtempSync(join(tmpdir(), 'ktx-test-hostile-server-'));
afterAll(() => {
  for (const end of children) end();
  rmSync(folder, { recursive: true });
});

interface HostileServer {
  readonly port: number;
  /** What it has printed after its port: the secrets that it got to know. */
  readonly told: () => string;
}

/** In a process of its own, so that the memory measured here is of ktx. */
async function start(engine: 'mysql' | 'postgres', trick: string): Promise<HostileServer> {
  const program = join(import.meta.dirname, `../support/hostile-${engine}.ts`);
  const file = join(folder, 'outside.txt');
  writeFileSync(file, 'secret-of-the-file');
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [program, trick, file], { stdio: [...stdio] });
  children.push(() => child.kill('SIGKILL'));
  const parts: string[] = [];
  child.stdout?.on('data', (bytes: Buffer) => parts.push(String(bytes)));
  if (child.stdout) await once(child.stdout, 'data');
  const [port = ''] = parts.join('').split('\n');
  return { port: Number(port), told: () => parts.join('').slice(port.length).trim() };
}

const openPostgres = ({ port }: HostileServer, signal = never): Promise<unknown> => {
  const place = { host: '127.0.0.1', port, database: 'shop', user: 'reader' };
  const config = postgresDriver.config.parse({ driver: 'postgres', ...place });
  const spec = { connection: 'pg', config, projectDir: '/', cacheDir: '/', secrets: () => '' };
  return openWarehouse(spec, signal);
};

const openRedshift = ({ port }: HostileServer, signal = never): Promise<unknown> => {
  const place = { host: '127.0.0.1', port, database: 'shop', user: 'reader', ssl: 'off' };
  const config = redshiftDriver.config.parse({ driver: 'redshift', ...place });
  const spec = { connection: 'rs', config, projectDir: '/', cacheDir: '/', secrets: () => '' };
  return openWarehouse(spec, signal);
};

interface MysqlPlace {
  readonly host?: string;
  readonly ssl?: string;
}

const openMysql = (
  { port }: HostileServer,
  { host = '127.0.0.1', ssl = 'off' }: MysqlPlace = {},
  signal = never,
): Promise<unknown> => {
  const login = { database: 'shop', user: 'reader', password: 'env:PASSWORD' };
  const config = mysqlDriver.config.parse({ driver: 'mysql', host, port, ssl, ...login });
  const secrets = () => mysqlPassword;
  const spec = { connection: 'my', config, projectDir: '/', cacheDir: '/', secrets };
  return openWarehouse(spec, signal);
};

/** Fails if `work` takes much memory. */
async function within700MB<T>(work: () => Promise<T>): Promise<T> {
  const before = process.memoryUsage().rss;
  let highest = before;
  const watch = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss);
  }, 50);
  const result = await work().finally(() => clearInterval(watch));
  expect(highest - before).toBeLessThan(700_000_000);
  return result;
}

const sentTooMuch = /it sent more than 256 MiB at once/;
const sentTooMuchAtLogin = /it sent more than 1 MiB at once/;
const unasked = /it answers what nobody asked/;
const brokenProtocol = /the server does not keep to the protocol/;

describe('a hostile Postgres server ends in an error', () => {
  test.for([
    ['endless-rows', sentTooMuch],
    ['endless-row', sentTooMuch],
    ['endless-small-rows', sentTooMuch],
    ['wrong-columns', brokenProtocol],
    ['notice-without-end', /an error or a notice has no end/],
    ['wrong-columns-at-login', brokenProtocol],
    ['endless-notices-at-login', sentTooMuchAtLogin],
    ['error-without-end', /an error or a notice has no end/],
    ['short-login', brokenProtocol],
    ['negative-length', /a message has a negative length/],
    ['closes-mid-row', /Connection terminated unexpectedly/],
  ] as const)('%s', async ([trick, message]) => {
    const server = await start('postgres', trick);
    await within700MB(() =>
      expect(openPostgres(server)).rejects.toMatchObject({
        code: 'warehouse_unreachable',
        message: expect.stringMatching(message) as unknown,
      }),
    );
  });

  test('also where it breaks the connection that cancels a statement', async () => {
    const server = await start('postgres', 'never-answers');
    const opened = openPostgres(server, AbortSignal.timeout(1000));
    await expect(opened).rejects.toMatchObject({ code: 'query_cancelled' });
    // An event that nobody listens to would end this process, and so fail the test run.
    await new Promise((resolve) => setTimeout(resolve, 1000));
  });
});

describe('a hostile server in place of Redshift ends in an error', () => {
  test.for([
    ['endless-small-rows', sentTooMuch],
    ['wrong-columns', brokenProtocol],
    ['endless-notices-at-login', sentTooMuchAtLogin],
    ['short-login', brokenProtocol],
    ['closes-mid-row', /Connection terminated unexpectedly/],
  ] as const)('%s', async ([trick, message]) => {
    const server = await start('postgres', trick);
    await within700MB(() =>
      expect(openRedshift(server)).rejects.toMatchObject({
        code: 'warehouse_unreachable',
        message: expect.stringMatching(message) as unknown,
      }),
    );
  });

  test('one that never answers', async () => {
    const server = await start('postgres', 'never-answers');
    const opened = openRedshift(server, AbortSignal.timeout(1000));
    await expect(opened).rejects.toMatchObject({ code: 'query_cancelled' });
  });
});

describe('a hostile MySQL server ends in an error and learns nothing', () => {
  const remote = { host: '0.0.0.0' };
  const slowMysqlTricks = [
    ['endless-rows', 'warehouse_unreachable', sentTooMuch],
    ['endless-row', 'warehouse_unreachable', sentTooMuch],
  ] as const;
  const refused = /asks for the password itself\. ktx did not send it/;
  test.for([
    ...(hasSlowCases ? slowMysqlTricks : []),
    ['endless-hello', 'warehouse_unreachable', sentTooMuchAtLogin],
    ['short-hello', 'warehouse_unreachable', brokenProtocol],
    ['clear-password', 'warehouse_insecure', refused],
    ['own-key', 'warehouse_insecure', refused, remote],
    ['own-key-of-sha256', 'warehouse_insecure', refused, remote],
    // Without TLS it may not learn who logs in either.
    ['own-key', 'warehouse_insecure', /offers no encrypted connection/, { ssl: 'verify' }],
    ['unknown-plugin', 'warehouse_auth', /unknown plugin __proto__/],
    ['asks-for-a-file', 'query_failed', /LOCAL INFILE/],
    ['endless-small-rows', 'warehouse_unreachable', sentTooMuch],
    ['endless-columns', 'warehouse_unreachable', unasked],
    ['endless-results', 'warehouse_unreachable', unasked],
    ['no-version', 'warehouse_unreachable', brokenProtocol],
    ['wrong-order', 'warehouse_unreachable', /packets out of order/],
    ['closes-mid-row', 'warehouse_unreachable', /closed the connection/],
  ] as const)('%s (%s)', async ([trick, code, message, place]) => {
    const server = await start('mysql', trick);
    await within700MB(() =>
      expect(openMysql(server, place)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message) as unknown,
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.told()).toBe('');
  });

  test('one that never answers keeps no connection open', async () => {
    const sockets = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
    const before = sockets();
    const server = await start('mysql', 'never-answers');
    const opened = openMysql(server, {}, AbortSignal.timeout(1000));
    await expect(opened).rejects.toMatchObject({ code: 'query_cancelled' });
    await expect.poll(sockets, { timeout: 10_000 }).toBe(before);
  });

  test.skipIf(!hasSlowCases).for(['slow-hello', 'endless-factors'])(
    '%s ends after ten seconds',
    async (trick) => {
      const server = await start('mysql', trick);
      await expect(openMysql(server)).rejects.toMatchObject({ code: 'warehouse_unreachable' });
      expect(server.told()).toBe('');
    },
  );
});
