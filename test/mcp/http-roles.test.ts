import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { approve } from '../support/approve.ts';
import { connect, serveRegions } from './http-shop.ts';

const regions = ['dach', 'us', 'apac'];

/** Datasets with rules: which rows a role sees, as SQL; undefined: none. */
const rules: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  orders: { dach: "region = 'dach'", us: "region IN ('us', 'apac')", admin: 'true' },
  tickets: { dach: "region = 'dach' AND amount > 20", admin: 'true' },
  visits: { us: "region <> 'dach'", apac: "region = 'apac'" },
};
const roles = ['dach', 'us', 'apac', 'admin', 'nobody'];

async function makeShop(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-roles-'));
  const db = new DatabaseSync(join(dir, 'shop.sqlite'));
  mkdirSync(join(dir, 'semantic-layer/shop'), { recursive: true });
  for (const [name, access] of Object.entries(rules)) {
    const rows = Array.from({ length: 30 }, (_, id) => {
      const region = regions[id % 3] ?? '';
      return `(${id}, '${region}', 'canary-${name}-${region}-${id}', ${id * 3})`;
    });
    db.exec(`CREATE TABLE ${name} (id INTEGER PRIMARY KEY, region TEXT, word TEXT, amount INTEGER);
      INSERT INTO ${name} VALUES ${rows.join(', ')}`);
    const lines = Object.entries(access).map(
      ([role, where]) => `  - {role: ${role}, where: ${JSON.stringify(where)}}`,
    );
    writeFileSync(
      join(dir, `semantic-layer/shop/${name}.yaml`),
      `dataset: ${name}
source: ${name}
primary_key: [id]
access:
${lines.join('\n')}
fields:
  - {name: id, type: integer}
  - {name: region, type: string}
  - {name: word, type: string}
  - {name: amount, type: integer}
metrics:
  - {name: total, agg: sum, of: amount}
`,
    );
  }
  db.close();
  writeFileSync(
    join(dir, 'ktx.yaml'),
    'connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n',
  );
  await approve(dir);
  return dir;
}

test('every tool gives every role of every dataset with rules the rows that SQL by hand gives', async () => {
  await using served = await serveRegions({}, {}, await makeShop());
  const db = new DatabaseSync(join(served.dir, 'shop.sqlite'), { readOnly: true });
  const select = (sql: string) =>
    db
      .prepare(sql)
      .all()
      .map((row) => Object.values(row));
  let answered = 0;
  for (const role of roles) {
    const { text } = await served.tokens.create({ name: role, role, scopes: ['read', 'query'] });
    await using caller = await connect(served.url, text);
    for (const [name, access] of Object.entries(rules)) {
      const rule = access[role];
      const seen = select(`SELECT word FROM ${name} WHERE ${rule ?? 'false'}`)
        .flat()
        .map(String);
      const foreign = select(`SELECT word FROM ${name}`)
        .flat()
        .map(String)
        .filter((word) => !seen.includes(word));
      const hidesAll = (answer: object) => {
        const words = JSON.stringify(answer).match(/canary-[a-z]+-[a-z]+-\d+/g) ?? [];
        expect(words.filter((word) => foreign.includes(word))).toEqual([]);
      };

      const query = { metrics: [`${name}.total`], dimensions: [`${name}.word`], limit: 100 };
      const metrics = await caller.call('query_metrics', query);
      hidesAll(metrics);
      const { untrusted } = (metrics.structured ?? {}) as { untrusted?: { rows: unknown[][] } };
      expect(metrics.isError).toBe(rule === undefined);
      if (rule === undefined) expect(metrics.text).toContain('no_access');
      else {
        const byHand = `SELECT word, sum(amount) FROM ${name} WHERE ${rule} GROUP BY word`;
        const sorted = (rows: unknown[][]) => rows.map((row) => JSON.stringify(row)).sort();
        expect(sorted(untrusted?.rows ?? [])).toEqual(sorted(select(byHand)));
        answered += 1;
      }

      const sql = await caller.call('run_sql', { sql: `SELECT word FROM ${name} LIMIT 100` });
      hidesAll(sql);
      const isWhole = seen.every((word) => sql.text.includes(word)) && !sql.isError;
      const isRefused = /row_rules|no_access/.test(sql.text);
      expect([isWhole && seen.length > 0, isRefused]).toEqual([rule === 'true', rule !== 'true']);

      const others: [string, Record<string, unknown>][] = [
        ['find_values', { text: `canary-${name}` }],
        ['search_context', { text: `canary-${name}` }],
        ['read_context', { name }],
        ['query_metrics', { ...query, dry_run: true }],
        ['review_status', {}],
      ];
      for (const [tool, input] of others) hidesAll(await caller.call(tool, input));
    }
  }
  db.close();
  expect(answered).toBe(7);
});
