import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Dataset } from '../../src/semantic/model/dataset.ts';
import { bakery, duckdbFile } from '../sources/dbt-fixture.ts';
import { run } from '../store/git-project.ts';

const program = new URL('../../src/cli/main.ts', import.meta.url).pathname;
let dir: string;

beforeAll(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-dbt-e2e-')));
  cpSync(bakery, join(dir, 'bakery'), { recursive: true });
  await duckdbFile(dir, readFileSync(join(bakery, 'warehouse.sql'), 'utf8'));
  const connections =
    'shop: {driver: duckdb, path: warehouse.duckdb, schemas: [main, raw]}\n  bakery: {driver: dbt, path: bakery}';
  writeFileSync(join(dir, 'ktx.yaml'), `connections:\n  ${connections}\n`);
  writeFileSync(join(dir, '.gitignore'), 'warehouse.duckdb*\ntarget/\n');
  run(dir, 'init', '-q', '-b', 'main');
  run(dir, 'add', '.');
  run(dir, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-qm', 'start');
  return () => rmSync(dir, { recursive: true, force: true });
});

interface Answer {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A command in a process of its own, with its JSON. */
function ktx(...args: readonly string[]): Answer {
  const options: ExecFileSyncOptionsWithStringEncoding = {
    cwd: dir,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  };
  try {
    return {
      code: 0,
      ...answerIn(execFileSync(process.execPath, [program, ...args, '--json'], options)),
    };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { code: status, ...answerIn(stdout) };
  }
}

function answerIn(stdout: string): Pick<Answer, 'data'> {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Pick<Answer, 'data'>;
}

function dataset(name: string): Dataset {
  return load(readFileSync(join(dir, `semantic-layer/shop/${name}.yaml`), 'utf8')) as Dataset;
}

describe('ktx ingest over a warehouse and the dbt project that built it', () => {
  test('gives datasets with what dbt says, and says what does not fit', () => {
    const { code, data } = ktx('ingest');
    expect(code).toBe(0);
    expect(data['quarantined']).toEqual([]);
    const unfit = data['unfit'] as readonly { readonly reason: string }[];
    expect(unfit.map(({ reason }) => reason)).toEqual([
      'metric revenue_since_month_start: offset_to_grain: month of revenue needs a time spine, and ktx knows none of this project',
      'metric revenue_growth: ktx knows no time spine of this project, so an offset by months moves each row once: the last days of a month can differ from MetricFlow',
      ...['revenue_so_far', 'revenue_week', 'revenue_mtd'].map(
        (name) =>
          `metric ${name}: ktx knows no time spine of this project, so a cumulative metric shows only periods that have rows, and a longer period shows the total at its end`,
      ),
    ]);
    expect(data['conflicts']).toEqual([]);
    const check = ktx('check');
    expect([check.code, check.data['unfit']]).toEqual([0, unfit]);
    expect(ktx('status', '--fast').data['attention']).toMatchObject({ quarantined: [], unfit });

    const baskets = dataset('baskets');
    expect(baskets).toMatchObject({
      description:
        'One row per basket that a customer paid for. Baskets that were voided at the till never get here.',
      primary_key: ['basket_id'],
      default_time: 'bought_at',
      tags: ['daily', 'finance'],
      relationships: [
        { to: 'people', on: { person_id: 'person_id' } },
        { to: 'shops', on: { shop_id: 'shop_id' } },
      ],
    });
    expect(baskets.fields).toContainEqual({
      name: 'size',
      type: 'string',
      description: 'Big above 40 euros, else small.',
      values: ['big', 'small'],
    });
    expect(baskets.fields?.at(-1)).toMatchObject({
      name: 'is_margin_thin',
      expr: 'net < 2 * material_cost',
    });
    expect(baskets.metrics).toContainEqual({
      name: 'revenue',
      agg: 'sum',
      of: 'net',
      description: 'Takings without tax, in euros.',
    });
    expect(baskets.metrics?.find(({ name }) => name === 'revenue_mtd')).toEqual({
      name: 'revenue_mtd',
      cumulative: { of: 'revenue', grain_to_date: 'month' },
    });
    expect(dataset('people').metrics?.map(({ name }) => name)).toEqual([
      'card_holders',
      'count',
      'regular_share',
      'regulars',
      'top_spender',
    ]);
    expect(readFileSync(join(dir, 'wiki/exposures.md'), 'utf8')).toContain(
      'See `dataset:shop.baskets`, `dataset:shop.shops`.',
    );
    expect(run(dir, 'ls-files', 'sources/bakery/artifacts').split('\n')).toHaveLength(3);
  });

  test('a second run changes nothing', () => {
    const [head, status] = [run(dir, 'rev-parse', 'HEAD'), run(dir, 'status', '--porcelain')];
    const { data } = ktx('ingest');
    expect(data).toMatchObject({
      commit: { none: 'unchanged' },
      files: { added: [], changed: [], removed: [] },
    });
    expect([run(dir, 'rev-parse', 'HEAD'), run(dir, 'status', '--porcelain')]).toEqual([
      head,
      status,
    ]);
  });

  test('the metrics answer, a conversion too', () => {
    const asked = ['basket_total', 'big_share', 'margin', 'town_baskets', 'top_basket'].flatMap(
      (name) => ['--metric', `baskets.${name}`],
    );
    const { code, data } = ktx('sl', 'query', ...asked);
    expect(code).toBe(0);
    const [row = []] = data['rows'] as readonly (readonly unknown[])[];
    const byHand = ktx(
      'sql',
      `SELECT count(*), avg(CASE WHEN size = 'big' THEN 1.0 ELSE 0 END), (sum(net) - sum(material_cost)) / sum(net),
        count(*) FILTER (WHERE size = 'big' AND town = 'Lund'), quantile_cont(net, 0.95)
       FROM baskets LEFT JOIN shops USING (shop_id)`,
    );
    const [wanted = []] = byHand.data['rows'] as readonly (readonly unknown[])[];
    expect(wanted).toHaveLength(5);
    expect(row.map((value) => Number(value).toFixed(6))).toEqual(
      wanted.map((value) => Number(value).toFixed(6)),
    );
    const comeBack = ktx('sl', 'query', '--metric', 'baskets.come_back').data['rows'];
    const counted = ktx(
      'sql',
      `SELECT (SELECT count(*) FROM baskets c WHERE EXISTS (SELECT 1 FROM baskets b WHERE b.size = 'big' AND b.person_id = c.person_id
        AND b.basket_id <> c.basket_id AND b.bought_at <= c.bought_at AND c.bought_at < b.bought_at + INTERVAL 14 DAY)) * 1.0
        / (SELECT count(*) FROM baskets WHERE size = 'big')`,
    );
    expect(comeBack).toEqual(counted.data['rows']);
  });

  test('a metric that the planner cannot answer is marked wherever it is met, and refused', () => {
    const file = join(dir, 'semantic-layer/shop/baskets.yaml');
    const before = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      before.replace(
        'metrics:\n',
        'metrics:\n  - {name: come_back_so_far, cumulative: {of: come_back}}\n',
      ),
    );
    const lists = ktx('sl', 'list').data['rows'] as readonly (readonly string[])[];
    expect(lists.find(([name]) => name === 'baskets')?.[1]).toContain(
      'come_back_so_far (not yet queryable)',
    );
    expect(
      ktx('sl', 'query', '--metric', 'baskets.come_back_so_far', '--dimension', 'metric_time.month')
        .code,
    ).toBe(1);
    expect(ktx('sl', 'read', 'baskets').data['not_yet_queryable']).toEqual(['come_back_so_far']);
    const hits = ktx('search', 'come back so far').data['hits'] as readonly {
      readonly name: string;
      readonly detail?: string;
    }[];
    expect(hits.find(({ name }) => name === 'come_back_so_far')?.detail).toContain(
      'not yet queryable',
    );
    writeFileSync(file, before);
  });

  test('a broken YAML file keeps what it said, and the rest goes on', () => {
    const file = join(dir, 'bakery/models/marts/baskets.yml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('    config:', '   config: ['));
    const other = join(dir, 'bakery/models/marts/shops.yml');
    writeFileSync(
      other,
      readFileSync(other, 'utf8').replace('Where we sell.', 'Where we bake and sell.'),
    );
    const { code, data } = ktx('ingest');
    expect(code).toBe(3);
    expect(JSON.stringify(data['sources'])).toMatch(
      /models\/marts\/baskets.yml","reason":"line \d+: not YAML/,
    );
    expect(dataset('shops').description).toBe('Where we bake and sell.');
    expect(dataset('baskets').metrics?.some(({ name }) => name === 'revenue')).toBe(true);
    expect(dataset('baskets').fields?.find(({ name }) => name === 'size')?.values).toEqual([
      'big',
      'small',
    ]);
  });
});
