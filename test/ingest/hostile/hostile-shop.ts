import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../../src/lib/error.ts';
import { planQuery, runQuery } from '../../../src/project/answer/query.ts';
import { openProject, type Project } from '../../../src/project/open/open.ts';
import { querySchema } from '../../../src/semantic/query/query.ts';
import { run, read, write } from '../../store/git-project.ts';
import { approve } from '../../support/approve.ts';
import { ktx } from '../../cli/run-cli.ts';
import { sql } from '../ingest-project.ts';
import { picnicSentence, type Behaviour } from './behaviour.ts';

const tables = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, region TEXT, joined_on DATE);
CREATE TABLE products (id INTEGER PRIMARY KEY, product_name TEXT, price REAL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), thanked TEXT,
  amount REAL, discount REAL, status TEXT, ordered_at DATE, delivered_at DATE);
CREATE TABLE order_items (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders (id),
  product_id INTEGER REFERENCES products (id), quantity INTEGER, paid_price REAL);
CREATE TABLE visits (customer_id INTEGER, started_at DATE, pages INTEGER);
CREATE TABLE coupons (code TEXT PRIMARY KEY, percent INTEGER);
CREATE TABLE archive (id INTEGER PRIMARY KEY, number TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  INSERT INTO customers SELECT i * 7, 'customer ' || i, CASE i % 3 WHEN 0 THEN 'north' ELSE 'south' END,
    date('2023-01-01', '+' || i || ' days') FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
  INSERT INTO products SELECT i, 'product ' || i, i * 2.5 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
  INSERT INTO orders SELECT 1000 + i, (1 + i * 13 % 40) * 7, CASE i % 9 WHEN 0 THEN (1 + i * 7 % 40) * 7 END,
    i * 1.5, i % 5, CASE i % 2 WHEN 0 THEN 'open' ELSE 'paid' END,
    date('2024-01-01', '+' || i || ' days'), date('2024-01-04', '+' || i || ' days') FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
  INSERT INTO order_items SELECT i, 1000 + 1 + i % 200, 1 + i * 7 % 20, 1 + i % 5, i * 0.5 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
  INSERT INTO visits SELECT (1 + i * 11 % 40) * 7, date('2024-02-01', '+' || i || ' days'), i % 8 FROM n;
INSERT INTO coupons VALUES ('SUMMER', 10), ('WINTER', 20);
`;

/** Whether `thanked` leads to customers is left to the model, however sure the scan is of it. */
const scan = 'scan: {accept: 0.98, review: 0.98}\n';

/** What people of the shop have written: metrics and words that queries use. */
const personsEdits: Readonly<Record<string, string>> = {
  orders: `default_time: ordered_at
metrics:
  - {name: revenue, agg: sum, of: amount, where: status = 'paid', synonyms: [turnover]}
  - {name: order_count, agg: count}
  - {name: discounts, agg: sum, of: discount}
`,
  order_items: `metrics:
  - {name: items_sold, agg: sum, of: quantity, synonyms: [units]}
  - {name: item_revenue, agg: sum, of: paid_price}
`,
  customers: `metrics:
  - {name: customer_count, agg: count}
`,
  visits: `metrics:
  - {name: page_views, agg: sum, of: pages}
`,
};

/** Queries that answer before a model has read anything. */
const standingQueries: readonly object[] = [
  { metrics: ['revenue'] },
  { metrics: ['turnover'] },
  { metrics: ['Turnover'], dimensions: ['customers.region'] },
  { metrics: ['orders.revenue'], dimensions: ['customers.region'] },
  { metrics: ['orders.revenue'], dimensions: ['orders.customers.region'] },
  { metrics: ['orders.revenue'], dimensions: ['customers.area'] },
  { metrics: ['order_count', 'revenue'], dimensions: ['orders.status'] },
  { metrics: ['Order Count'] },
  { metrics: ['revenue'], dimensions: ['metric_time.month'] },
  { metrics: ['page_views'], dimensions: ['visits.started_at.month'] },
  { metrics: ['item_revenue'], dimensions: ['products.product_name'] },
  { metrics: ['order_items.item_revenue'], dimensions: ['customers.region'] },
  { metrics: ['units'], dimensions: ['order_items.orders.status'] },
  { metrics: ['customer_count'], dimensions: ['customers.region'] },
  { metrics: ['page_views'], dimensions: ['customers.region'] },
  { metrics: ['sum(orders.amount)'], dimensions: ['orders.status'] },
  { metrics: [{ name: 'net', expr: 'revenue - discounts' }] },
];

/**
 * A shop with a semantic layer that people have written to, and how its standing queries answer.
 * `ktx.yaml` has no model yet.
 */
export async function hostileShop() {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-hostile-')));
  sql(dir, tables);
  write(dir, 'ktx.yaml', `connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n${scan}`);
  write(dir, '.gitignore', 'shop.sqlite\n');
  run(dir, 'init', '-q', '-b', 'main');
  run(dir, 'config', 'user.name', 'Ada');
  run(dir, 'config', 'user.email', 'ada@example.org');
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'start');
  await ktx(['ingest', '--project-dir', dir], { cwd: dir });
  for (const [dataset, text] of Object.entries(personsEdits)) {
    const path = `semantic-layer/shop/${dataset}.yaml`;
    const own = read(dir, path)
      .replace(/^(?:default_time|unreviewed): .*\n/gm, '')
      .replace(/^metrics:\n(?: .*\n)*/m, '')
      .replace(/(- \{name: region, )/, '$1synonyms: [area], ')
      .replace(/(- name: region\n)/, '$1    synonyms: [area]\n');
    write(dir, path, own + text);
  }
  run(dir, 'commit', '-qam', 'people write');
  await ktx(['ingest', '--project-dir', dir], { cwd: dir });
  return dir;
}

/** The SQL and the rows of each standing query, or the code of its error. */
export async function standingAnswers(dir: string): Promise<readonly object[]> {
  await approve(dir);
  const project = await openProject(dir);
  const signal = AbortSignal.timeout(60_000);
  try {
    const answers = [];
    for (const written of standingQueries) answers.push(await answerTo(project, written, signal));
    return answers;
  } finally {
    await project.close();
  }
}

async function answerTo(project: Project, written: object, signal: AbortSignal): Promise<object> {
  const query = querySchema.parse(written);
  try {
    const { sql: planned } = await planQuery(project, { query });
    const { rows } = await runQuery(project, { query }, signal);
    return { written, planned, rows: rows.map(String).toSorted() };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { written, error: error.code };
  }
}

/** So long that no page shares a work unit with another. */
const filler = `\n\n${'Nothing else. '.repeat(650)}\n`;

/** Adds a model and a page for each behaviour. */
export function addPages(dir: string, llm: string, behaviours: readonly Behaviour[]): void {
  write(
    dir,
    'ktx.yaml',
    `connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n  handbook: {driver: docs, path: docs}\n${scan}${llm}`,
  );
  for (const [index, { page }] of behaviours.entries())
    write(dir, `docs/p${index}.md`, `# Notes\n\n${page}${filler}`);
  write(dir, 'docs/picnic.md', `# Picnic\n\n${picnicSentence}\n`);
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'pages');
}
