import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openRest, type RestClient } from '../../src/warehouse/rest/client.ts';
import { openBigquery, withBigquery } from '../support/bigquery.ts';
import { never } from '../support/warehouses.ts';

const token = 'secret-token-0123456789';

async function withServer(
  answer: RequestListener,
  use: (client: RestClient) => Promise<void>,
): Promise<void> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = openRest({
    connection: 'wh',
    baseUrl: `http://127.0.0.1:${port}`,
    login: () => Promise.resolve({ authorization: `Bearer ${token}` }),
  });
  try {
    await use(client);
  } finally {
    client.close();
    server.closeAllConnections();
    server.close();
  }
}

describe('an API that means harm', () => {
  test.each([200, 400])('repeats the login with status %s, which nobody sees', async (status) => {
    await withServer(
      ({ headers }, response) => {
        response.writeHead(status).end(JSON.stringify({ message: headers.authorization, n: 1 }));
      },
      async (client) => {
        const { text } = await client.send({ method: 'GET', path: 'x' }, never);
        expect(JSON.parse(text)).toEqual({ message: 'Bearer …', n: 1 });
      },
    );
  });

  test('sends more values than fit into the memory', async () => {
    const rows = (count: number): string => `{"data":[${'[],'.repeat(count)}"a,,[[\\",{{"]}`;
    let count = 6_000_000;
    await withServer(
      (_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        response.end(gzipSync(rows(count), { level: 1 }));
      },
      async (client) => {
        const ask = () => client.send({ method: 'GET', path: 'x' }, never);
        await expect(ask()).rejects.toMatchObject({
          code: 'query_failed',
          message: expect.stringContaining('more than 5000000 values'),
        });
        // Every empty row is two of them, with its comma.
        count = 2_400_000;
        expect((await ask()).text).toHaveLength(rows(count).length);
      },
    );
  });
});

describe('a BigQuery that means harm', () => {
  const script = 'CREATE TABLE t (n INTEGER)';
  afterEach(() => {
    vi.useRealTimers();
  });

  test('sends empty pages of a list without end', async () => {
    await withBigquery({ script }, async (server) => {
      server.fault = ({ path, query }) =>
        path.endsWith('tables')
          ? { answer: { nextPageToken: `${query.get('pageToken') ?? ''}x` } }
          : undefined;
      await expect(openBigquery(server)).rejects.toMatchObject({
        code: 'query_failed',
        message: expect.stringContaining('empty pages of a list'),
      });
      expect(server.calls.length).toBeLessThan(200);
    });
  });

  test('never answers while the login is looked at', async () => {
    await withBigquery({ script }, async (server) => {
      server.fault = ({ path }) => (path.endsWith('tables') ? 'silent' : undefined);
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const opened = expect(openBigquery(server)).rejects.toMatchObject({
        code: 'warehouse_unreachable',
        message: expect.stringContaining('does not end its answer'),
      });
      await vi.waitUntil(() => server.calls.some(({ path }) => path.endsWith('tables')));
      vi.advanceTimersByTime(300_000);
      await opened;
    });
  });
});
