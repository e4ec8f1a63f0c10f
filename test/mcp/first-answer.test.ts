import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { serveStdio } from '../../src/mcp/stdio/serve-stdio.ts';
import { openProject } from '../../src/project/open/open.ts';
import { parseSql } from '../../src/sql/analyzer.ts';
import { duckdb } from '../../src/sql/dialects/duckdb.ts';
import { openShop } from './shop.ts';

const initialize = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

/** The parser takes longer to load than all the rest of a first answer. */
it('answers over plain expressions without loading the SQL parser, and loads it for others', async () => {
  const shop = await openShop('duckdb');
  const project = await openProject(shop.dir);
  const [stdin, stdout, end] = [new PassThrough(), new PassThrough(), new AbortController()];
  const serving = serveStdio(project, { stdin, stdout, signal: end.signal });
  const lines = createInterface(stdout)[Symbol.asyncIterator]();
  const ask = async (method: string, params: object): Promise<unknown> => {
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
    return JSON.parse(String((await lines.next()).value)) as unknown;
  };
  const call = (name: string, input: object) => ask('tools/call', { name, arguments: input });
  const rows = (expected: unknown) => ({
    result: { structuredContent: { untrusted: { rows: expected } } },
  });
  try {
    await ask('initialize', initialize);
    const byRegion = {
      metrics: ['orders.revenue', 'sum(orders.amount)'],
      dimensions: ['orders.buyer.region'],
    };
    expect(
      await call('query_metrics', { ...byRegion, where: ["orders.status = 'paid'"] }),
    ).toMatchObject(
      rows([
        ['EU', 800, 800],
        ['US', 800, 800],
        [null, 200, 200],
      ]),
    );
    expect(await call('search_context', { text: 'turnover' })).toMatchObject({
      result: { isError: false },
    });
    expect(await call('run_sql', { sql: 'SELECT count(*) FROM orders' })).toMatchObject(
      rows([[900]]),
    );
    expect(() => parseSql('SELECT 1', duckdb)).toThrow('withAnalyzer');
    const lower = { metrics: ['orders.revenue'], where: ["lower(orders.buyer.region) = 'eu'"] };
    expect(await call('query_metrics', lower)).toMatchObject(rows([[800]]));
    expect(() => parseSql('SELECT 1', duckdb)).not.toThrow();
  } finally {
    end.abort();
    await serving;
    await project.close();
    shop.remove();
  }
});
