import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { hashFile } from '../../src/context/merge/merge-whole-file.ts';
import { openProject } from '../../src/project/open/open.ts';
import type { Dataset } from '../../src/semantic/model/dataset.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { duckdbFile } from '../sources/dbt-fixture.ts';
import { run } from '../store/git-project.ts';
import { partsOfAnswer } from '../support/answer-parts.ts';

/** A dbt project of raw tables, staging views and marts, as dbt's own example is made up. */
const teahouse = new URL('../fixtures/dbt-teahouse', import.meta.url).pathname;
let cwd: string;
let ingest: string;

beforeAll(async () => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-layers-')));
  cpSync(teahouse, cwd, { recursive: true });
  await duckdbFile(cwd, readFileSync(join(teahouse, 'warehouse.sql'), 'utf8'));
  writeFileSync(join(cwd, '.gitignore'), 'warehouse.duckdb*\n');
  run(cwd, 'init', '-q', '-b', 'main');
  run(cwd, 'add', '.');
  run(cwd, 'commit', '-qm', 'start');
  const setup = await ktx(
    ['setup', '--driver', 'duckdb', '--path', 'warehouse.duckdb', '--no-input'],
    { cwd },
  );
  expect(setup.code, setup.stderr).toBe(0);
  const source = await ktx(['connection', 'add', 'dbt', '--driver', 'dbt', '--path', '.'], { cwd });
  expect(source.code, source.stderr).toBe(0);
  const { code, stdout, stderr } = await ktx(['ingest'], { cwd });
  expect(code, stderr).toBe(0);
  ingest = stdout;
  return () => rmSync(cwd, { recursive: true, force: true });
});

function dataset(name: string): Dataset {
  return load(readFileSync(join(cwd, `semantic-layer/warehouse/${name}.yaml`), 'utf8')) as Dataset;
}

async function rowsOf(...args: readonly string[]): Promise<unknown> {
  const { envelope } = await ktxJson(['sl', 'query', ...args], { cwd });
  return (envelope['data'] as { readonly rows: unknown } | null)?.rows ?? envelope['error'];
}

test('the first check finds nothing, and the run says what arrived', async () => {
  const check = await ktx(['check'], { cwd });
  expect(check.code).toBe(0);
  expect(check.stdout.split('\n')).toEqual(['Nothing stale, contested or invalid.', '']);
  expect(ingest).toContain(
    '  coverage 51 of 54 statements arrived; ktx has no place for measure without a metric (2), unit test (1) (ktx coverage dbt)\n',
  );
});

test('joins stay within their layer', () => {
  const joins = (name: string) =>
    (dataset(name).relationships ?? []).map(({ to }) => to).toSorted();
  expect(joins('orders')).toEqual(['guests', 'houses']);
  expect(joins('order_items')).toEqual(['orders', 'teas']);
  expect(joins('stg_order_items')).toEqual(['stg_orders', 'stg_teas']);
  expect(joins('stg_orders')).toEqual(['stg_guests', 'stg_houses']);
  expect(joins('raw__raw_orders')).toEqual(['raw__raw_guests', 'raw__raw_houses']);
});

test('metrics answer under their names in dbt, their labels and their names in version 0.1.0', async () => {
  const [total] = (await rowsOf('-m', 'order_total')) as [[string]];
  expect(await rowsOf('-m', 'Order Total')).toEqual([total]);
  expect(await rowsOf('-m', 'orders.sum_order_total')).toEqual([total]);
  expect(await rowsOf('-m', 'order_total', '-d', 'guests.guest_type')).toEqual([
    ['returning', ...total],
  ]);
  const counted = await ktxJson(
    ['sql', 'SELECT count(*), count_if(order_total >= 20), count(DISTINCT guest_id) FROM orders'],
    { cwd },
  );
  const { rows } = counted.envelope['data'] as { readonly rows: unknown };
  expect(await rowsOf('-m', 'orders,large_orders,first_orders')).toEqual(rows);
});

test('a cumulative metric has each day of the time spine of the project, as in MetricFlow', async () => {
  expect(dataset('time_spine').time_spine).toEqual({ column: 'day', grain: 'day' });
  const counted = await ktxJson(
    [
      'sql',
      'SELECT count(*) FROM time_spine WHERE day >= (SELECT min(ordered_at) FROM order_items)',
    ],
    { cwd },
  );
  const { rows } = counted.envelope['data'] as { readonly rows: readonly [[number]] };
  const running = await rowsOf('-m', 'cumulative_revenue', '-d', 'metric_time.day');
  expect(running).toHaveLength(rows[0][0]);
});

test('the tests of a model are constraints that a reader sees', () => {
  expect(dataset('orders').constraints).toEqual(['order_total = subtotal + tax_paid']);
  expect(dataset('stg_order_items').constraints).toEqual(['order_id is not null']);
});

test('search shows the mart before the staging view and the raw table of the same things', async () => {
  const layers = ['orders', 'stg_orders', 'raw__raw_orders'].map((name) => dataset(name).layer);
  expect(layers).toEqual(['mart', 'staging', 'raw']);
  for (const words of ['orders', 'order total of an order', 'guests', 'teas']) {
    const { envelope } = await ktxJson(['search', words, '--limit', '40'], { cwd });
    const { hits } = envelope['data'] as { readonly hits: readonly { readonly subject: string }[] };
    const found = hits.flatMap(
      ({ subject }) => /^dataset:warehouse\.(\w+)$/.exec(subject)?.[1] ?? [],
    );
    const isStep = (name: string) => /^(stg|raw)_/.test(name);
    const [first = ''] = found;
    expect(isStep(first), `${words}: ${found.join(', ')}`).toBe(false);
    const name = first.replace(/^order_/, '');
    expect(found.findIndex(isStep), words).toBeGreaterThan(found.indexOf(name));
  }
});

test('lists show what people ask, and say how many steps before it they leave out', async () => {
  const listed = await ktxJson(['sl', 'list'], { cwd });
  const all = await ktxJson(['sl', 'list', '--all'], { cwd });
  const namesOf = ({ envelope }: typeof listed) =>
    (envelope['data'] as { readonly rows: readonly (readonly [string])[] }).rows.map(
      ([name]) => name,
    );
  const marts = ['guests', 'houses', 'order_items', 'orders', 'teas', 'time_spine'];
  expect(namesOf(listed)).toEqual(marts);
  const { left_out: leftOut } = listed.envelope['data'] as { readonly left_out: string[] };
  expect([...marts, ...leftOut].toSorted()).toEqual(namesOf(all).toSorted());
  const { stderr } = await ktx(['sl', 'list'], { cwd });
  expect(stderr).toContain(
    '10 raw, staging or intermediate datasets not listed: ktx sl list --all',
  );

  const project = await openProject(cwd);
  const [read] = openToolbox(project)
    .tools(new AbortController().signal)
    .filter(({ name }) => name === 'read_context');
  const { markdown } = (await read?.execute({}).finally(() => project.close())) ?? {};
  const { untrusted } = partsOfAnswer(markdown);
  const names = untrusted.text.split('\n').map((line) => (JSON.parse(line) as Dataset).dataset);
  expect(names.toSorted()).toEqual(marts);
  expect(markdown).toContain('Not listed: 10 raw, staging or intermediate datasets');
});

test('ktx coverage lists what did not arrive, each by its name and place', async () => {
  const { code, envelope } = await ktxJson(['coverage', 'dbt'], { cwd });
  expect(code).toBe(0);
  const { sources, rows } = envelope['data'] as {
    readonly sources: readonly [{ readonly statements: number; readonly arrived: number }];
    readonly rows: readonly (readonly [string, string, string])[];
  };
  const [{ statements, arrived }] = sources;
  expect(statements - arrived).toBe(rows.length);
  expect(ingest).toContain(`coverage ${arrived} of ${statements} statements`);
  const named = rows.map(([reason, name]) => `${reason}: ${name}`);
  expect(named).toContain('unit test: hot_drinks_are_counted');
  for (const [, , place] of rows) expect(place).toMatch(/^sources\/dbt\/\S+ line \d+$/);
  const { stdout } = await ktx(['coverage'], { cwd, terminal: true });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.filter((line) => line.length > 80 || line.includes('…'))).toEqual([]);
  expect(lines.filter((line) => line.includes('measure without a metric'))).toHaveLength(1);
  const unknown = await ktx(['coverage', 'dbtt'], { cwd });
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain('dbt');
});

describe('a saved query of dbt', () => {
  const file = 'semantic-layer/warehouse/queries/order_metrics.yaml';
  const models = 'models/marts/orders.yml';
  const textOf = (path: string) => readFileSync(join(cwd, path), 'utf8');
  const edit = (path: string, from: string, to: string) =>
    writeFileSync(join(cwd, path), textOf(path).replace(from, to));
  const next = async (): Promise<string> => {
    const { code, stdout, stderr } = await ktx(['ingest'], { cwd });
    expect(code, stderr).toBe(0);
    return stdout;
  };

  test('answers under its name, and is explained back to its line', async () => {
    const asked = ['--metric', 'orders.orders,orders.order_total', '-d', 'metric_time.day'];
    expect(await rowsOf('--saved', 'order_metrics')).toEqual(await rowsOf(...asked));
    const { stdout } = await ktx(['explain', 'query:warehouse.order_metrics'], { cwd });
    expect(stdout).toContain(`(ktx, ${file}:2)`);
    expect(stdout).toMatch(/sources\/dbt\/models\/marts\/orders\.yml line \d+/);
    expect(await next()).toContain('nothing changed');
  });

  test('follows its source until a person changes it', async () => {
    edit(models, '[orders, order_total]', '[orders, order_total, large_orders]');
    expect(await next()).toContain(file);
    expect(textOf(file)).toContain('orders.large_orders');
    edit(file, 'query: order_metrics', 'query: order_metrics\nowner: finance');
    edit(models, '[orders, order_total, large_orders]', '[orders]');
    expect(await next()).toContain('your edit of query order_metrics');
    expect(textOf(file)).toContain('owner: finance');
    expect(textOf(file)).toContain('orders.large_orders');
    const { stdout } = await ktx(['explain', 'query:warehouse.order_metrics'], { cwd });
    expect(stdout).toContain(`(person, ${file}:2)`);
  });

  test('that a person deleted stays out until they put it back', async () => {
    rmSync(join(cwd, file));
    expect(await next()).toContain('your removal of query order_metrics');
    expect(await next()).not.toContain(file);
    expect(existsSync(join(cwd, file))).toBe(false);
  });

  test('that has no answer is named with its line, and is no file', async () => {
    edit(
      models,
      '  - name: order_metrics',
      `  - name: by_tea\n    query_params:\n      metrics: [order_total]\n      group_by: ["Dimension('tea__tea_name')"]\n  - name: order_metrics`,
    );
    const { code, stdout } = await ktx(['ingest'], { cwd });
    expect(code).toBeOneOf([0, 3]);
    expect(stdout).toMatch(/by_tea/);
    expect(existsSync(join(cwd, 'semantic-layer/warehouse/queries/by_tea.yaml'))).toBe(false);
    expect((await ktx(['sl', 'validate'], { cwd })).code).toBe(0);
  });

  test('is gone with its source, and no line of a claims file reaches another file', async () => {
    const page = 'wiki/mine.md';
    mkdirSync(join(cwd, 'wiki'), { recursive: true });
    writeFileSync(join(cwd, page), '# Mine\n');
    writeFileSync(
      join(cwd, 'claims/queries.jsonl'),
      `${textOf('claims/queries.jsonl')}${JSON.stringify({ base: { [page]: hashFile(textOf(page)) } })}\n`,
    );
    writeFileSync(join(cwd, models), textOf(models).replace(/^saved_queries:[^]*/m, ''));
    await next();
    expect(existsSync(join(cwd, page))).toBe(true);
    expect(existsSync(join(cwd, 'claims/queries.jsonl'))).toBe(false);
  });
});
