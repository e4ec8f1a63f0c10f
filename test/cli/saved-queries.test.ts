import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ktx, ktxJson, shopProject } from './run-cli.ts';

const orders = `dataset: orders
source: orders
primary_key: [id]
parameters: [{name: least, type: integer, default: 1001}]
fields: [{name: id, type: integer}]
metrics:
  - {name: few, agg: count, where: id >= param.least}
  - {name: all, agg: count}
`;

async function project(queries: Readonly<Record<string, string>>, dataset = orders) {
  const cwd = await shopProject();
  const folder = join(cwd, 'semantic-layer/warehouse');
  mkdirSync(join(folder, 'queries'), { recursive: true });
  writeFileSync(join(folder, 'orders.yaml'), dataset);
  for (const [name, text] of Object.entries(queries))
    writeFileSync(join(folder, 'queries', `${name}.yaml`), text);
  return cwd;
}

const recent = `query: recent
description: Orders since the new shop.
owner: sales@example.com
metrics: [orders.few]
where: ["orders.id > 1010"]
parameters: {least: 1031}
`;

test('a saved query is listed, run, and named in the receipt', async () => {
  const cwd = await project({ recent });
  const { envelope } = await ktxJson(['sl', 'queries'], { cwd });
  expect(envelope.data).toMatchObject({
    queries: [
      {
        name: 'recent',
        owner: 'sales@example.com',
        file: 'semantic-layer/warehouse/queries/recent.yaml',
      },
    ],
    problems: [],
  });
  const listed = await ktx(['sl', 'queries'], { cwd });
  const explained = await ktx(['explain', 'query:warehouse.recent'], { cwd });
  expect(explained.stdout).toMatch(/parameters: .*least.*queries\/recent\.yaml:6\)/);
  expect(listed.stdout).toContain('recent');
  expect(listed.stderr).toContain('ktx sl query --saved recent');
  const { envelope: answered } = await ktxJson(['sl', 'query', '--saved', 'recent'], { cwd });
  expect(answered.data).toMatchObject({
    rows: [[30]],
    receipt: {
      saved: { name: 'recent', file: 'semantic-layer/warehouse/queries/recent.yaml' },
    },
  });
});

test('flags add conditions and parameters, and replace everything else', async () => {
  const cwd = await project({ recent });
  const ask = async (...flags: readonly string[]) =>
    (await ktxJson(['sl', 'query', '--saved', 'recent', ...flags], { cwd })).envelope.data;
  expect(await ask('--where', 'orders.id < 1036')).toMatchObject({ rows: [[5]] });
  expect(await ask('--parameter', 'least=1051')).toMatchObject({ rows: [[10]] });
  expect(await ask('-m', 'orders.all')).toMatchObject({ rows: [[50]] });
  const both = ['-m', 'orders.all', '--where', 'orders.id < 1036'];
  expect(await ask(...both)).toMatchObject({ rows: [[25]] });
  const planned = await ktx(['sl', 'query', '--saved', 'recent', '--plan'], { cwd });
  expect(planned.stderr).toContain('saved query recent');
  const twice = ['sl', 'query', '--saved', 'recent', '--query-file', 'x.yaml'];
  expect(await ktx(twice, { cwd })).toMatchObject({ code: 2 });
});

test('a wrong name is answered with the nearest one, a broken file with its faults', async () => {
  const cwd = await project({
    recent,
    broken: 'query: broken\nmetrics: [orders.all]\ndimension: [orders.id]\n',
  });
  expect(await ktx(['sl', 'query', '--saved', 'recnt'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean recent?'),
  });
  expect(await ktx(['sl', 'query', '--saved', 'broken'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/queries\/broken\.yaml:3:1: .*dimensions/),
  });
});

test('validate and check find queries without an answer, with their lines', async () => {
  const cwd = await project({
    recent,
    lost: 'query: lost\nmetrics:\n  - orders.all\n  - orders.al\n',
    moved: 'query: elsewhere\nmetrics: [orders.all]\n',
    empty: 'query: empty\ndescription: Nothing.\n',
    needy: 'query: needy\nmetrics: [orders.all]\nsegments: [orders.nothing]\n',
  });
  const validated = await ktx(['sl', 'validate'], { cwd });
  expect(validated.code).toBe(1);
  expect(await ktx(['sl', 'query', '--saved', 'lost'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/orders\.al\b.*\n.*orders\.all.*queries\/lost\.yaml/),
  });
  expect(validated.stdout).toMatch(/queries\/lost\.yaml:4:5: error: .*orders\.all/);
  expect(validated.stdout).toMatch(/queries\/moved\.yaml:1:1: error: .*another name/);
  expect(validated.stdout).toMatch(/queries\/empty\.yaml:1:\d+: error: /);
  expect(validated.stdout).toMatch(/queries\/needy\.yaml:3:12: error: /);
  expect(validated.stdout).toContain('1 valid dataset, saved queries: 1');
  const { envelope } = await ktxJson(['check'], { cwd });
  const { findings } = envelope.data as { findings: readonly { where: string; what: string }[] };
  expect(findings.filter(({ where }) => where.includes('/queries/'))).toHaveLength(4);
});

test('a query over rows that the role may not see is not there', async () => {
  const cwd = await project({ recent }, `${orders}access: [{role: clerk, where: "id > 1040"}]\n`);
  const none = await ktxJson(['sl', 'queries'], { cwd, env: { KTX_ROLE: 'guest' } });
  expect(none.envelope.data).toMatchObject({ queries: [], problems: [] });
  const found = async (role: string) => {
    const asked = { cwd, env: { KTX_ROLE: role } };
    return JSON.stringify((await ktxJson(['search', 'recent'], asked)).envelope.data);
  };
  expect(await found('clerk')).toContain('query:warehouse.recent');
  expect(await found('guest')).not.toContain('query:warehouse.recent');
  const some = await ktxJson(['sl', 'query', '--saved', 'recent'], {
    cwd,
    env: { KTX_ROLE: 'clerk' },
  });
  expect(some.envelope.data).toMatchObject({ rows: [[20]] });
});

test('a folder or a file that leads out of the project is one problem; everything else works', async () => {
  const cwd = await project({ recent });
  const queries = join(cwd, 'semantic-layer/warehouse/queries');
  const outside = `${cwd}-outside`;
  mkdirSync(outside);
  onTestFinished(() => rmSync(outside, { recursive: true }));
  writeFileSync(join(outside, 'evil.yaml'), 'query: evil\nmetrics: [orders.all]\n');
  symlinkSync(join(outside, 'evil.yaml'), join(queries, 'evil.yaml'));
  const { envelope } = await ktxJson(['sl', 'queries'], { cwd });
  expect(envelope.data).toMatchObject({
    queries: [{ name: 'recent' }],
    problems: [{ message: expect.stringContaining('leads out of the project') }],
  });
  rmSync(queries, { recursive: true });
  symlinkSync(outside, queries);
  const { envelope: linked } = await ktxJson(['sl', 'queries'], { cwd });
  expect(linked.data).toMatchObject({
    queries: [],
    problems: [{ message: expect.stringContaining('leads out of the project') }],
  });
  expect((await ktx(['search', 'orders'], { cwd })).code).toBe(0);
});

test('the schema is printed', async () => {
  const cwd = await project({});
  const { stdout } = await ktx(['schema', 'saved-query'], { cwd });
  expect(Object.keys((JSON.parse(stdout) as { properties: object }).properties)).toEqual(
    expect.arrayContaining(['query', 'owner', 'metrics', 'over_rows']),
  );
});

test('those of dbt are imported beside the datasets, and kept the next time', async () => {
  const cwd = await shopProject();
  writeFileSync(
    join(cwd, 'semantic.yml'),
    `semantic_models:
  - name: orders
    model: ref('orders')
    entities: [{name: order, type: primary, expr: id}]
    measures: [{name: orders, agg: count, expr: 1, create_metric: true}]
saved_queries:
  - {name: how_many, query_params: {metrics: [orders], where: "{{ Entity('order') }} > 1040"}}
`,
  );
  const imported = await ktx(['sl', 'import', join(cwd, 'semantic.yml')], { cwd });
  expect(imported.stdout).toContain('wrote semantic-layer/warehouse/queries/how_many.yaml');
  const { envelope } = await ktxJson(['sl', 'query', '--saved', 'how_many'], { cwd });
  expect(envelope.data).toMatchObject({ rows: [[20]] });
  const again = await ktx(['sl', 'import', join(cwd, 'semantic.yml')], { cwd });
  expect(again.stdout).toContain('kept: semantic-layer/warehouse/queries/how_many.yaml');
});
