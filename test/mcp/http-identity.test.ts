import * as fc from 'fast-check';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasMariadb } from '../support/mariadb.ts';
import { runPostgres } from '../support/postgres.ts';
import { roleNames } from '../warehouse/identity/callers.ts';
import { connect, serveRegions } from './http-shop.ts';
import { makeMariadbShop, makePostgresShop } from './identity-shop.ts';

const scopes = ['read', 'query'] as const;

/** What somebody may ask who looks for the rows of others, with each tool that they have. */
const questions = (other: string): readonly (readonly [string, Record<string, unknown>])[] => [
  ['query_metrics', { metrics: ['orders.order_count'], dimensions: ['orders.word'] }],
  [
    'query_metrics',
    {
      metrics: ['orders.order_count'],
      dimensions: ['orders.owner'],
      filters: [{ field: 'orders.region', op: '=', value: other }],
    },
  ],
  ['run_sql', { sql: 'SELECT word FROM orders' }],
  ['run_sql', { sql: `SELECT word::int FROM orders WHERE region = '${other}'` }],
  [
    'run_sql',
    { sql: `SELECT 1 / (CASE WHEN word LIKE '%${other}%' THEN 0 ELSE 1 END) FROM orders` },
  ],
  ['find_values', { text: `canary-${other}` }],
  ['search_context', { text: `canary-${other}-1` }],
  ['read_context', { address: 'orders' }],
];

async function serveRoles(mode: 'role' | 'session') {
  const shop = await makePostgresShop(mode);
  const limits = { requestsPerMinute: 100_000, concurrentQueries: 100 };
  const served = await serveRegions({ limits }, {}, shop.dir);
  const clients = await Promise.all(
    roleNames.map(async (role) => {
      const name = mode === 'role' ? role : `ann-${role}`;
      const { text } = await served.tokens.create({ name, role, scopes: [...scopes] });
      return { role, session: await connect(served.url, text) };
    }),
  );
  return {
    ...served,
    shop,
    clients,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const { session } of clients) await session[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
    },
  };
}

const canaries = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/canary-([a-z]+)-\d+/g)].map(([, role = '']) => role));

describe('callers whom the warehouse tells apart', () => {
  it.each(['role', 'session'] as const)('see rows of their own alone, by %s', async (mode) => {
    await using served = await serveRoles(mode);
    const caller = fc.integer({ min: 0, max: roleNames.length - 1 });
    const call = fc.record({ caller, other: caller, question: fc.integer({ min: 0, max: 7 }) });
    let rows = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 10, maxLength: 30 }), async (calls) => {
        const answers = calls.map(async ({ caller: index, other, question }) => {
          const client = served.clients[index];
          const [tool, input] = questions(roleNames[other] ?? '')[question] ?? [];
          if (client === undefined || tool === undefined || input === undefined) return;
          const { text, structured } = await client.session.call(tool, input);
          const asked = JSON.stringify(input);
          const found = canaries(
            (text + JSON.stringify(structured ?? {})).replaceAll(/`[^`]*`/g, ''),
          );
          const own = new Set([client.role, ...canaries(asked)]);
          expect([...found].filter((role) => !own.has(role))).toEqual([]);
          if (tool === 'run_sql' && question === 2) {
            expect([...found]).toEqual([client.role]);
            rows += 1;
          }
        });
        await Promise.all(answers);
      }),
      { numRuns: 12 },
    );
    expect(rows).toBeGreaterThan(10);
  });

  it('are refused without an identity, before anything is sent', async () => {
    await using served = await serveRoles('role');
    const { text } = await served.tokens.create({ name: 'x', role: 'other', scopes: [...scopes] });
    await using session = await connect(served.url, text);
    const answer = await session.call('run_sql', { sql: 'SELECT word FROM orders' });
    expect(answer.text).toMatch(/^Error identity_unknown\n.*\nThe role other has no role/);
    expect(canaries(answer.text)).toEqual(new Set());
  });

  it('share no proof of a key: what one may not see is not counted for them', async () => {
    await using served = await serveRoles('role');
    await runPostgres(
      served.shop.owner,
      "INSERT INTO orders VALUES ('canary-us-1', 'us', 'x'), ('canary-us-2', 'us', 'x')",
    );
    const joined = { metrics: ['visits.visit_count'], dimensions: ['orders.region'] };
    const outcomes = [];
    // Twice, so that what one caller left behind could be found by the others.
    for (const { role, session } of [...served.clients, ...served.clients]) {
      const { text } = await session.call('query_metrics', joined);
      outcomes.push([role, /^Error (\w+)/.exec(text)?.[1] ?? 'ok']);
    }
    const expected = roleNames.map((role) => [role, role === 'us' ? 'contradicted_key' : 'ok']);
    expect(outcomes).toEqual([...expected, ...expected]);
  });

  it.runIf(hasMariadb)('read the datasets of their own role on MariaDB', async () => {
    const shop = await makeMariadbShop();
    await using served = await serveRegions({}, {}, shop.dir);
    for (const role of ['dach', 'us'] as const) {
      const token = await served.tokens.create({ name: role, role, scopes: [...scopes] });
      await using session = await connect(served.url, token.text);
      const ask = (name: string) =>
        session.call('query_metrics', { metrics: [`${name}.order_count`] });
      const [own, other] = await Promise.all([
        ask(`orders_${role}`),
        ask(`orders_${role === 'us' ? 'dach' : 'us'}`),
      ]);
      expect(own.text).toContain('20');
      expect(other.text).toMatch(/^Error warehouse_privilege/);
    }
  });
});

it('work of the login serves no answer: only what asks on behalf of everyone takes it', () => {
  const root = join(import.meta.dirname, '../../src');
  const naming = globSync('**/*.ts', { cwd: root }).filter((file) =>
    /\bloginWarehouse\b/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(naming.sort()).toEqual([
    'project/learn/history.ts',
    'project/learn/ingest.ts',
    'project/learn/scan.ts',
    'project/learn/workers/work.ts',
    'project/open/open.ts',
    'project/review/status.ts',
  ]);
});
