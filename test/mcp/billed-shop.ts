import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBigquery } from '../engines/bigquery/server.ts';
import { approve } from '../support/approve.ts';
import { bigqueryConfig } from '../support/bigquery.ts';
import { connect, serveRegions } from './http-shop.ts';

/** 8 kB are read of it, and 10 MB are billed. */
const script = 'CREATE TABLE orders AS SELECT range AS id FROM range(1000)';

interface BilledOptions {
  readonly limits?: { readonly bytesReadPerDay?: number; readonly usdPerDay?: number };
  /** The section `query` of `ktx.yaml`. */
  readonly query?: object;
}

/** A server of MCP with BigQuery behind it. */
export async function serveBilled({ limits = {}, query = {} }: BilledOptions) {
  const bigquery = await startBigquery({ script });
  const dir = mkdtempSync(join(tmpdir(), 'ktx-billed-'));
  const key = bigquery.logins.keyFile(bigquery.tokenUri);
  writeFileSync(join(dir, '.env'), `KEY='${key}'\n`);
  const shop = bigqueryConfig(bigquery);
  writeFileSync(join(dir, 'ktx.yaml'), JSON.stringify({ connections: { shop }, query }));
  mkdirSync(join(dir, 'semantic-layer/shop'), { recursive: true });
  await approve(dir);
  const all = { requestsPerMinute: 1000, concurrentQueries: 20, ...limits };
  const served = await serveRegions({ limits: all }, {}, dir);
  return {
    ...served,
    bigquery,
    async token(name: string) {
      const given = { name, role: 'us', scopes: ['read' as const, 'query' as const] };
      return connect(served.url, (await served.tokens.create(given)).text);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await served[Symbol.asyncDispose]();
      await bigquery.close();
    },
  };
}
