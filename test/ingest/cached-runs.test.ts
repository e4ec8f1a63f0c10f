import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sample, shuffledSubarray } from 'fast-check';
import { expect, test } from 'vitest';
import type { IngestReport } from '../../src/ingest/report.ts';
import { openSource } from '../../src/sources/registry.ts';
import { read, run, write } from '../store/git-project.ts';
import { copyOf, ingestHere, shopProject, sql, stateOf } from './ingest-project.ts';

const modelsYaml = (measure: string) => `models:
  - name: orders
    description: What people bought, in {{ var('market') }}.
    columns:
      - name: status
        data_tests:
          - accepted_values: {values: [open, paid]}
  - name: customers
    description: Who buys.
semantic_models:
  - name: orders
    model: ref('orders')
    entities: [{name: id, type: primary}]
    dimensions: [{name: status, type: categorical}]
    measures:
      - {name: total, agg: sum, expr: ${measure}, create_metric: true}
      - {name: biggest, agg: max, expr: amount, create_metric: true}
`;

const sourceFolder = (dir: string) => (existsSync(join(dir, 'moved')) ? 'moved' : 'dbt');
const inSource = (dir: string, path: string) => join(sourceFolder(dir), path);

function project(): string {
  const dir = shopProject();
  const dbtProject = 'name: shop\nmodel-paths: [models]\nvars: {market: Norway}\n';
  write(dir, 'dbt/dbt_project.yml', dbtProject);
  write(dir, 'dbt/models/orders.sql', 'select * from raw_orders\n');
  write(dir, 'dbt/models/customers.sql', 'select * from raw_customers\n');
  write(dir, 'dbt/models/models.yml', modelsYaml('amount'));
  sql(dir, "CREATE VIEW big AS SELECT id, amount FROM orders WHERE status = 'paid'");
  return dir;
}

function ingest(dir: string): Promise<IngestReport> {
  const path = sourceFolder(dir);
  const open = () => openSource({ driver: 'dbt', path, target_schema: 'main' });
  const sources = [{ name: 'transform', open, secrets: () => '', isAsked: true }];
  return ingestHere(dir, { sources });
}

const datasetFile = 'semantic-layer/shop/orders.yaml';

/** What can change between two runs. `step` makes repeated changes differ. */
const changes: Readonly<Record<string, (dir: string, step: number) => void>> = {
  nothing: () => undefined,
  'a model changed': (dir, step) =>
    write(dir, inSource(dir, 'models/models.yml'), modelsYaml(`amount * ${step}`)),
  'a measure that does not work': (dir, step) =>
    write(dir, inSource(dir, 'models/models.yml'), modelsYaml(`no_function_${step}(amount)`)),
  'a model renamed': (dir, step) =>
    write(
      dir,
      inSource(dir, 'models/models.yml'),
      read(dir, inSource(dir, 'models/models.yml')).replace(
        /name: (?:customers|coupons)\b/,
        `name: ${step % 2 === 0 ? 'customers' : 'coupons'}`,
      ),
    ),
  'a model deleted': (dir) =>
    rmSync(join(dir, inSource(dir, 'models/customers.sql')), { force: true }),
  'the source moved': (dir) => {
    if (existsSync(join(dir, 'dbt'))) renameSync(join(dir, 'dbt'), join(dir, 'moved'));
  },
  'a variable changed': (dir, step) =>
    write(
      dir,
      inSource(dir, 'dbt_project.yml'),
      `name: shop\nmodel-paths: [models]\nvars: {market: Land ${step}}\n`,
    ),
  'a package changed': (dir, step) => {
    const folder = inSource(dir, 'dbt_packages/parts');
    write(dir, `${folder}/dbt_project.yml`, 'name: parts\nmodel-paths: [models]\n');
    const model = `models: [{name: coupons, description: Part ${step}.}]\n`;
    write(dir, `${folder}/models/parts.yml`, model);
  },
  'a column added': (dir, step) => sql(dir, `ALTER TABLE orders ADD COLUMN note_${step} TEXT`),
  'a column gone': (dir) => {
    sql(dir, 'DROP VIEW IF EXISTS big');
    sql(dir, 'DROP TABLE orders; CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT)');
  },
  'a table gone': (dir) => sql(dir, 'DROP TABLE IF EXISTS coupons'),
  'a pin added': (dir, step) =>
    write(
      dir,
      'pins.yaml',
      `pins:\n  - {subject: 'metric:shop.orders.total', kind: metric, choose: none, seen: ['${step}']}\n`,
    ),
  'ktx.yaml changed': (dir, step) =>
    write(dir, 'ktx.yaml', `${read(dir, 'ktx.yaml')}# remark ${step}\n`),
  'a description of a person': (dir, step) =>
    write(dir, datasetFile, read(dir, datasetFile).replace(/bought[^.\n]*/, `bought (${step})`)),
  'a metric of a person': (dir, step) =>
    write(
      dir,
      datasetFile,
      read(dir, datasetFile).replace(
        /^metrics:\n/m,
        `metrics:\n  - name: ours_${step}\n    expr: sum(amount + ${step})\n`,
      ),
    ),
  'a file of claims lost': (dir) => rmSync(join(dir, 'claims/shop/orders.jsonl'), { force: true }),
  'a commit of a person': (dir) => {
    run(dir, 'add', '.');
    run(dir, 'commit', '-q', '--allow-empty', '-m', 'ours');
  },
};

/** The tree without what only the machine has. */
function treeOf(dir: string) {
  const { files, status } = stateOf(dir);
  return { files, status };
}

const names = Object.keys(changes);
const [seed = 0, rounds = 1] = (process.env['KTX_CACHED_RUNS'] ?? '').split(',').map(Number);
const orders = shuffledSubarray(names, { minLength: names.length });
/** Every change occurs in each round, in an order that the seed decides. */
const histories = sample(orders, { seed, numRuns: rounds })
  .flatMap((order) => [order.slice(0, 6), order.slice(6, 12), order.slice(12)])
  .map((history) => ({ history }));

test.for(histories)(
  '$history leaves the same with what earlier runs kept and without',
  async ({ history }) => {
    const kept = project();
    await ingest(kept);
    const anew = copyOf(kept);
    for (const [step, name] of history.entries()) {
      for (const dir of [kept, anew]) changes[name]?.(dir, step);
      rmSync(join(anew, '.ktx'), { recursive: true, force: true });
      const left = await ingest(kept);
      const right = await ingest(anew);
      expect({ name, ...lasting(left), ...treeOf(kept) }).toEqual({
        name,
        ...lasting(right),
        ...treeOf(anew),
      });
    }
  },
);

function lasting({ exitCode, quarantined, conflicts }: IngestReport) {
  return { exitCode, quarantined, conflicts };
}
