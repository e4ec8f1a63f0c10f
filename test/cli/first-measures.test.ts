import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { agentTools } from '../../src/chat/tools/agent-tools.ts';
import { openPermissions } from '../../src/chat/tools/permissions.ts';
import { loadAgent } from '../../src/project/agents/agent.ts';
import { readKnownValues } from '../../src/project/answer/values.ts';
import { openProject } from '../../src/project/open/open.ts';
import { proposeQuestions, questionText } from '../../src/project/setup/first-questions.ts';
import { ktx, ktxJson } from './run-cli.ts';

let cwd: string;
const file = () => readFileSync(join(cwd, 'semantic-layer/warehouse/orders.yaml'), 'utf8');

/** A database that nothing describes: no keys, no model, no dbt. */
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'ktx-first-measures-'));
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(
    'CREATE TABLE orders (id INTEGER, buyer TEXT, order_date DATE, shipped_date DATE, amount DECIMAL(10,2), tax DECIMAL(10,2), discount_pct DECIMAL(5,2));',
  );
  for (let row = 1; row <= 20; row += 1)
    db.exec(
      `INSERT INTO orders VALUES (${row}, 'b${row % 5}', '2025-01-0${(row % 9) + 1}', '2025-02-01', ${row}.5, ${row}.25, ${row % 7});`,
    );
  db.close();
  expect((await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd })).code).toBe(0);
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  return () => rmSync(cwd, { recursive: true, force: true });
});

test('an ingest without a model gives something to ask, marked as unreviewed', async () => {
  expect(file()).toContain('{name: total_amount, agg: sum, of: amount, unreviewed: true}');
  expect(file()).toMatch(/unreviewed: \[default_time\]\n.*\n?default_time: order_date/);
  expect(file()).not.toContain('discount_pct}');
  const asked = await ktxJson(['sl', 'query', '-m', 'orders.total_amount'], { cwd });
  expect(asked.envelope.data).toMatchObject({
    rows: [[220]],
    receipt: { metrics: [{ curated: false, unreviewed: ['orders.total_amount'] }] },
  });
  const generated = await ktx(['eval', 'generate'], { cwd });
  expect(generated.stdout + generated.stderr).toMatch(/2 new cases/);
});

test('a first question groups by a field that has few values in the data', async () => {
  await using closing = new AsyncDisposableStack();
  const project = closing.adopt(await openProject(cwd), (open) => open.close());
  const { model } = await project.model('warehouse');
  const counts = await readKnownValues(project, 'warehouse');
  expect(proposeQuestions(model, counts).map(questionText)).toEqual([
    'orders.total_amount by orders.buyer',
  ]);
  expect(proposeQuestions(model, new Map()).map(questionText)).toEqual([
    'orders.total_amount by orders.order_date.month',
  ]);
});

test('a first question does not group by what its metric filters', async () => {
  await using closing = new AsyncDisposableStack();
  const before = file();
  const paid = "{name: paid, agg: sum, of: amount, where: buyer = 'b1'}";
  writeFileSync(
    join(cwd, 'semantic-layer/warehouse/orders.yaml'),
    before.replace('metrics:\n', `metrics:\n  - ${paid}\n`),
  );
  const project = closing.adopt(await openProject(cwd), (open) => open.close());
  const { model } = await project.model('warehouse');
  const known = new Map([
    ['orders.buyer', ['b1', 'b2']],
    ['orders.tax', ['1', '2', '3']],
  ]);
  expect(proposeQuestions(model, known).map(questionText)).toEqual(['orders.paid by orders.tax']);
  writeFileSync(join(cwd, 'semantic-layer/warehouse/orders.yaml'), before);
});

test.each([
  ['a name of notes', 'buyer_note', ['call back', 'gift']],
  ['values that are sentences', 'buyer', ['please ring twice at the door', 'none']],
])('a first question does not group by free text: %s', async (_case, field, values) => {
  await using closing = new AsyncDisposableStack();
  const before = file();
  const path = join(cwd, 'semantic-layer/warehouse/orders.yaml');
  const note = '  - {name: buyer_note, type: string, expr: buyer}\n';
  writeFileSync(path, before.replace('fields:\n', `fields:\n${field === 'buyer' ? '' : note}`));
  const project = closing.adopt(await openProject(cwd), (open) => open.close());
  const { model } = await project.model('warehouse');
  const known = new Map([
    [`orders.${field}`, values],
    ['orders.tax', ['1', '2', '3']],
  ]);
  expect(proposeQuestions(model, known).map(questionText)).toEqual([
    'orders.total_amount by orders.tax',
  ]);
  writeFileSync(path, before);
});

test('an agent that may use accepted metrics only is not offered them', async () => {
  mkdirSync(join(cwd, 'agents'), { recursive: true });
  writeFileSync(
    join(cwd, 'agents/careful.yaml'),
    'version: 1\nname: careful\ncontext:\n  semantic_layer: required\n',
  );
  const project = await openProject(cwd);
  const agent = await loadAgent(cwd, 'careful');
  const permissions = openPermissions({ mode: 'acceptAll', ask: () => Promise.resolve('once') });
  const { set } = agentTools({ project, agent, permissions, external: [], firstEvidence: 0 });
  const call = async (name: string, input: object) =>
    JSON.stringify(await set[name]?.execute(input, { id: 'a', ask: (_, answer) => answer() }));
  expect(await call('search_context', { text: 'total amount' })).not.toContain('total_amount');
  const read = await call('read_context', { name: 'orders' });
  expect(read).toContain('discount_pct');
  expect(read).not.toContain('total_amount');
  const refused = await call('query_metrics', { metrics: ['orders.total_amount'] });
  expect(refused).toContain('unreviewed_metric');
  await ktx(['review', 'accept', 'orders.total_amount'], { cwd });
  expect(await call('search_context', { text: 'total amount' })).toContain('total_amount');
  expect(await call('query_metrics', { metrics: ['orders.total_amount'] })).toContain('220');
  await project.close();
});

test('what a person accepts loses the mark, what they reject is gone, in every later run', async () => {
  expect(file()).toContain('{name: total_amount, agg: sum, of: amount}');
  expect((await ktx(['review', 'reject', 'orders.total_tax', '--why', 'vat'], { cwd })).code).toBe(
    0,
  );
  expect((await ktx(['review', 'accept', 'dataset:warehouse.orders'], { cwd })).code).toBe(0);
  expect(file()).not.toContain('total_tax');
  expect(file()).toContain('default_time: order_date');
  expect(file()).not.toContain('unreviewed');
  const before = file();
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  expect(file()).toBe(before);
  const gone = await ktx(['sl', 'query', '-m', 'orders.total_tax'], { cwd });
  expect(gone.code).not.toBe(0);
  expect(await ktxJson(['review', 'list'], { cwd })).toMatchObject({
    envelope: { data: { unreviewed: [] } },
  });
});
