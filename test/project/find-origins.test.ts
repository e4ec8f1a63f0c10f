import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ktx, ktxJson } from '../cli/run-cli.ts';

let cwd: string;

const files: Readonly<Record<string, string>> = {
  'dbt/dbt_project.yml': 'name: shop\nversion: 1.0.0\nmodel-paths: [models]\n',
  'dbt/models/sources.yml':
    'version: 2\nsources:\n  - name: web\n    schema: main\n    tables: [{name: raw_orders}]\n',
  'dbt/models/stg_orders.sql': "select * from {{ source('web', 'raw_orders') }}\n",
  'dbt/models/cleaned.sql':
    "{{ config(materialized='ephemeral') }}\nselect * from {{ ref('stg_orders') }}\n",
  'dbt/models/orders.sql': "select * from {{ ref('cleaned') }} -- {{ ref('nothing') }}\n",
  'dbt/models/orders.yml':
    'version: 2\nmodels:\n  - {name: orders, description: One row per order.}\n',
};

beforeAll(async () => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-origins-')));
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  for (const table of ['raw_orders', 'stg_orders', 'orders'])
    db.exec(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY, amount REAL, tax REAL, status TEXT);
      INSERT INTO ${table} VALUES (1, 2, 1, 'paid'), (2, 3, 1, 'open');`);
  db.close();
  mkdirSync(join(cwd, 'dbt/models'), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(cwd, path), text);
  for (const argv of [
    ['setup', '--driver', 'sqlite', '--path', 'shop.db'],
    ['connection', 'add', 'dbt', '--driver', 'dbt', '--path', 'dbt'],
    ['ingest'],
  ]) {
    const { code, stderr } = await ktx(argv, { cwd });
    if (code !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`);
  }
  const file = join(cwd, 'semantic-layer/warehouse/orders.yaml');
  const text = readFileSync(file, 'utf8');
  const metrics = `  - {name: revenue, agg: sum, of: amount, where: status = 'paid'}
  - {name: big, agg: count, where: amount > 9}
  - {name: secret, agg: sum, of: tax, hidden: true}
  - {name: share, ratio: {numerator: revenue, denominator: count}}
  - {name: leak, ratio: {numerator: secret, denominator: revenue}, hidden: true}
`;
  const field = '  - {name: net, expr: amount - tax, type: decimal}\n';
  writeFileSync(
    file,
    text.replace('metrics:\n', `metrics:\n${metrics}`).replace('fields:\n', `fields:\n${field}`),
  );
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

interface Node {
  readonly kind: string;
  readonly name: string;
  readonly from?: readonly Node[] | undefined;
  readonly uses?: readonly Node[] | undefined;
}
const nodeSchema: z.ZodType<Node> = z.lazy(() =>
  z.object({
    kind: z.string(),
    name: z.string(),
    from: z.array(nodeSchema).optional(),
    uses: z.array(nodeSchema).optional(),
  }),
);
const explainedSchema = z.object({
  explanations: z.array(z.object({ origins: z.array(nodeSchema), uses: z.array(nodeSchema) })),
});

/** Each line a thing, deeper by its place. */
function drawn(nodes: readonly Node[], indent = ''): readonly string[] {
  return nodes.flatMap(({ kind, name, from = [], uses = [] }) => [
    `${indent}${kind} ${name}`,
    ...drawn([...from, ...uses], `${indent}. `),
  ]);
}

async function explain(subject: string, flags: readonly string[] = []) {
  const argv = ['explain', '--origins', '--uses', ...flags, subject];
  const { envelope } = await ktxJson(argv, { cwd });
  const [explanation] = explainedSchema.parse(envelope.data).explanations;
  return { up: drawn(explanation?.origins ?? []), down: drawn(explanation?.uses ?? []) };
}

const made = [
  'table main.orders',
  '. transformation model orders',
  '. . transformation model cleaned',
  '. . . dataset stg_orders',
  '. . . . transformation model stg_orders',
  '. . . . . dataset raw_orders',
  '. . . . . . transformation source web.raw_orders',
];

describe('what a subject is made of', () => {
  test('of a dataset: its table, and the models of dbt that make it, down to the sources', async () => {
    const { up } = await explain('dataset:warehouse.orders');
    expect(up).toEqual([...made, 'source dbt']);
  });

  test('of a metric: metrics and fields, its dataset, and no metric called like an aggregate', async () => {
    const { up, down } = await explain('metric:warehouse.orders.share');
    expect(up).toEqual([
      'metric orders.revenue',
      '. field orders.amount',
      '. field orders.status',
      'metric orders.count',
      'dataset orders',
      ...made.map((line) => `. ${line}`),
    ]);
    expect(down).toEqual([]);
    const big = await explain('metric:warehouse.orders.big');
    expect(big.up.slice(0, 2)).toEqual(['field orders.amount', 'dataset orders']);
    // It counts, as metrics do that are not made of the metric count.
    const { down: users } = await explain('metric:warehouse.orders.count');
    expect(users).toEqual(['metric orders.share']);
  });

  test('of a field: the fields that its expression names', async () => {
    const { up } = await explain('field:warehouse.orders.net');
    expect(up.slice(0, 3)).toEqual(['field orders.amount', 'field orders.tax', 'dataset orders']);
  });

  test('and what depends on it is a tree, too', async () => {
    const { down } = await explain('field:warehouse.orders.amount');
    expect(down).toEqual([
      'metric orders.revenue',
      '. metric orders.share',
      '. metric orders.leak',
      'metric orders.big',
    ]);
  });

  test('callers of a server see nothing hidden in either', async () => {
    const { up, down } = await explain('field:warehouse.orders.amount', ['--visible']);
    expect(down).toEqual(['metric orders.revenue', '. metric orders.share', 'metric orders.big']);
    expect([...up, ...down].join('\n')).not.toMatch(/secret|leak/);
  });

  test('a person reads the same, indented', async () => {
    const { stdout } = await ktx(['explain', '--origins', 'dataset:warehouse.orders'], { cwd });
    expect(stdout).toContain(
      '  from table main.orders\n    from transformation model orders (sources/dbt/models/orders.sql)\n',
    );
  });
});
