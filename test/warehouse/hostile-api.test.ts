import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readLink } from '../../src/warehouse/drivers/databricks/external-link.ts';
import { openRest, type RestClient } from '../../src/warehouse/rest/client.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { type DatabricksServer, startDatabricks } from '../engines/databricks/server.ts';
import { openBigquery, withBigquery } from '../support/bigquery.ts';
import { openDatabricks } from '../support/databricks.ts';
import { generous, never } from '../support/warehouses.ts';

const token = 'secret-token-0123456789';

async function withOrigin(
  answer: RequestListener,
  use: (origin: string) => Promise<void>,
): Promise<void> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    await use(`http://127.0.0.1:${port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function withServer(
  answer: RequestListener,
  use: (client: RestClient) => Promise<void>,
): Promise<void> {
  await withOrigin(answer, async (baseUrl) => {
    const login = () => Promise.resolve({ authorization: `Bearer ${token}` });
    const client = openRest({ connection: 'wh', baseUrl, login });
    try {
      await use(client);
    } finally {
      client.close();
    }
  });
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

  test('sends an answer byte by byte, of which the bytes are kept and not the pieces', async () => {
    const count = 150_000;
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = () => {
      collect();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return (heapUsed + arrayBuffers) / 2 ** 20;
    };
    let [before, whole] = [0, 0];
    await withServer(
      ({ socket }, response) => {
        socket.setNoDelay(true);
        response.writeHead(200);
        void (async () => {
          before = used();
          for (let sent = 0; sent < count; sent += 1) {
            response.write('7');
            if (sent % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
          }
          whole = used();
          response.end();
        })();
      },
      async (client) => {
        const { text } = await client.send({ method: 'GET', path: 'x' }, never);
        expect(text).toHaveLength(count);
      },
    );
    expect(whole - before).toBeLessThan(2.5);
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
      let failure: unknown;
      void openBigquery(server).catch((error: unknown) => (failure = error));
      await vi.waitUntil(() => server.calls.some(({ path }) => path.endsWith('tables')));
      vi.advanceTimersByTime(120_000);
      await vi.waitUntil(() => failure !== undefined);
      expect(failure).toMatchObject({
        code: 'warehouse_unreachable',
        message: expect.stringContaining('does not end its answer'),
      });
    });
  });

  test('lists datasets without end, of which the opening reads no more than it looks at', async () => {
    await withBigquery({ script }, async (server) => {
      const datasets = Array.from({ length: 7 }, () => ({
        datasetReference: { projectId: 'p', datasetId: 'main' },
      }));
      // It ends after all, so that who reads on gets to know it.
      server.fault = ({ path, query }) => {
        if (!path.endsWith('datasets')) return undefined;
        const nextPageToken = `${query.get('pageToken') ?? ''}x`;
        return { answer: { datasets, ...(nextPageToken.length < 10 && { nextPageToken }) } };
      };
      const open = await openBigquery(server, { config: { datasets: undefined } });
      const lists = server.calls.filter(({ path }) => path.endsWith('datasets'));
      expect(lists).toHaveLength(3);
      await open.close();
    });
  });
});

describe('a Databricks that means harm', () => {
  const script = 'CREATE TABLE t (n INTEGER)';
  const manifest = { schema: { columns: [{ name: 'n', type_text: 'STRING' }] } };
  /** Answers statements about `t` with this result. */
  const giveResult = (server: DatabricksServer, result: (path: string) => unknown): void => {
    server.rules.fault = ({ sql, path }, response) => {
      if (!/FROM t\b/.test(sql) && !path.includes('chunks')) return false;
      const answer = path.includes('chunks')
        ? result(path)
        : { statement_id: 'a', status: { state: 'SUCCEEDED' }, manifest, result: result(path) };
      response.writeHead(200).end(JSON.stringify(answer));
      return true;
    };
  };
  const ask = (warehouse: Warehouse) => warehouse.query('SELECT n FROM t', generous, never);

  test('sends the same part of a result again and again', async () => {
    const server = await startDatabricks({ script });
    const warehouse = await openDatabricks(server);
    try {
      giveResult(server, () => ({ data_array: [['1']], next_chunk_index: 1 }));
      await expect(ask(warehouse)).rejects.toMatchObject({
        message: expect.stringContaining('a part of the result again'),
      });
    } finally {
      await warehouse.close();
      await server.close();
    }
  });

  test('sends links to more than a result may have, of which few are read', async () => {
    const server = await startDatabricks({ script });
    const warehouse = await openDatabricks(server);
    let links = 0;
    const rows = JSON.stringify([['x'.repeat(30 * 2 ** 20)]]);
    await withOrigin(
      (_request, response) => {
        links += 1;
        response.end(rows);
      },
      async (origin) => {
        const external_links = Array.from({ length: 20 }, () => ({ external_link: origin }));
        giveResult(server, () => ({ external_links }));
        await expect(ask(warehouse)).rejects.toMatchObject({
          message: expect.stringContaining('too large'),
        });
        expect(links).toBe(3);
      },
    );
    await warehouse.close();
    await server.close();
  });

  test.each([
    'http://127.0.0.1:9/x',
    'https://localhost/x',
    'http://storage.example/x',
    'https://169.254.169.254/latest',
    'https://[::ffff:a9fe:a9fe]/latest',
  ])('of the internet sends no one to %s', async (link) => {
    await expect(readLink(link, 'https://dbc-1.example', never)).rejects.toThrow(
      'it sent a link that is not encrypted, or leads to this machine',
    );
  });
});
