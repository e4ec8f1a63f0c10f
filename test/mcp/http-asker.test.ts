import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shortHash } from '../../src/lib/hash.ts';
import { statementMark } from '../../src/warehouse/history/statement-history.ts';
import { startDatabricks } from '../engines/databricks/server.ts';
import { approve } from '../support/approve.ts';
import { databricksConfig } from '../support/databricks.ts';
import { connect, serveRegions } from './http-shop.ts';

test('the warehouse is told the role and the hash of the login, and never the name', async () => {
  const server = await startDatabricks({
    script: 'CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (1);',
  });
  const dir = mkdtempSync(join(tmpdir(), 'ktx-asker-'));
  const shop = { ...databricksConfig(server), token: 'file:token' };
  writeFileSync(join(dir, 'token'), 'dapi-token');
  writeFileSync(join(dir, 'ktx.yaml'), `connections: ${JSON.stringify({ shop })}\n`);
  await approve(dir);
  try {
    await using served = await serveRegions({}, {}, dir);
    const { text } = await served.tokens.create({
      name: 'ana@example.com',
      role: 'finance */ DROP',
      scopes: ['read', 'query'],
    });
    await using ana = await connect(served.url, text);
    const answer = await ana.call('run_sql', { sql: 'SELECT id FROM orders' });
    expect(answer.isError, answer.text).toBe(false);
    const sent = server.requests.map(({ sql }) => sql).filter((sql) => sql.includes('ktx'));
    expect(sent.at(-1)).toBe(
      `SELECT id FROM orders\n/* ktx */ /* role=finance __ DROP login=${shortHash('ana@example.com')} */`,
    );
    expect(server.requests.some(({ body }) => body.includes('ana@'))).toBe(false);
  } finally {
    await server.close();
  }
});

test('nothing of a role ends the comment', () => {
  expect(statementMark('role=a*/ /* ;\n-- b')).toBe('/* ktx */ /* role=a__ __ __-- b */');
  expect(statementMark(undefined)).toBe('/* ktx */');
});
