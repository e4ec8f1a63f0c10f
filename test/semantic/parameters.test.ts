import { mkdirSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compareVersions } from '../../src/ingest/decide/compare-metrics.ts';
import type { Json } from '../../src/lib/json.ts';
import { openProject } from '../../src/project/open/open.ts';
import { modelForRole } from '../../src/semantic/resolve/row-rules.ts';
import { openState } from '../../src/store/state.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import { folder } from '../cli/run-cli.ts';
import { compile, load } from './shop.ts';

const orders = (more = '', fields = '') => `
dataset: orders
source: orders
primary_key: [id]
parameters:
  - {name: state, type: string, default: paid, values: [paid, open]}
  - {name: least, type: integer, default: 3}
  - {name: isAll, type: boolean, default: false}
fields: [{name: id, type: integer}, {name: status, type: string}, {name: is_large, expr: amount > param.least, type: boolean}${fields}]
metrics:
  - {name: chosen, agg: sum, of: amount, where: status = param.state or param.isAll}
  - {name: count, agg: count}
${more}`;
const tickets = (declared: string) => `
dataset: tickets
source: tickets
parameters: [${declared}]
metrics: [{name: few, agg: count, where: size < param.least}]
`;

const diagnosed = async (files: Readonly<Record<string, string>>) =>
  (await load(files)).diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ rule, message }) => `${rule}: ${message}`);

describe('values', () => {
  test('stand as literals in the SQL and, those that were used, in the receipt', async () => {
    const { model } = await load({ orders: orders() });
    const { sql, receipt } = compile(model, {
      metrics: ['orders.chosen'],
      dimensions: ['orders.is_large'],
      parameters: { least: '-7', isAll: 'true' },
    });
    expect(sql).toContain(`"orders".amount > (-7)`);
    expect(sql).toContain(`"orders"."status" = 'paid' or TRUE`);
    expect(receipt.parameters).toEqual({
      'orders.isAll': true,
      'orders.least': -7,
      'orders.state': 'paid',
    });
    expect(compile(model, { metrics: ['orders.count'] }).receipt.parameters).toEqual({});
    expect(
      compile(model, { metrics: ['orders.chosen'], parameters: { least: 4 } }).receipt.notes,
    ).toEqual(['Nothing in the query uses the parameter least']);
    expect(compile(model, { metrics: ['orders.chosen'] }).sql).toContain('or FALSE');
  });

  test.each([
    ['least', '1; DROP TABLE orders'],
    ['least', 1.5],
    ['least', true],
    ['least', '9999999999999999'],
    ['isAll', 'TRUE or 1=1'],
    ['state', "paid' or '1'='1"],
    ['state', 1],
  ])('%s cannot be %s', async (name, value) => {
    const { model } = await load({ orders: orders() });
    expect(() =>
      compile(model, { metrics: ['orders.chosen'], parameters: { [name]: value } }),
    ).toThrow(expect.objectContaining({ code: 'wrong_parameter' }));
  });

  test('a name means the parameter of each dataset that declares it alike, else it is ambiguous', async () => {
    const metrics = ['orders.count', 'tickets.few'];
    const alike = await load({
      orders: orders(),
      tickets: tickets('{name: least, type: integer, default: 3}'),
    });
    const given = (parameters: Record<string, number>) =>
      compile(alike.model, { metrics, parameters }).receipt.parameters;
    expect(given({ least: 5 })).toEqual({ 'tickets.least': 5 });
    expect(given({ 'tickets.least': 6, least: 5 })).toEqual({ 'tickets.least': 6 });
    const { model } = await load({
      orders: orders(),
      tickets: tickets('{name: least, type: integer, default: 4}'),
    });
    expect(() => compile(model, { metrics, parameters: { least: 5 } })).toThrow(
      expect.objectContaining({
        code: 'ambiguous_name',
        details: { choices: ['orders.least', 'tickets.least'] },
      }),
    );
  });
});

describe('a declaration', () => {
  test.each([
    [
      'a default of another type',
      orders().replace('default: 3', 'default: three'),
      /^wrong_parameter: .*least is of type integer/,
    ],
    [
      'a default that is no value',
      orders().replace('default: paid', 'default: lost'),
      /^wrong_parameter: The parameter state cannot be "lost"/,
    ],
    [
      'two of a name',
      orders().replace('name: least', 'name: state'),
      /^duplicate: state is declared twice/,
    ],
    [
      'one that is not declared',
      orders().replace('param.state', 'param.stat'),
      /^unknown_name: param.stat is not declared/,
    ],
    [
      'one in a row rule',
      orders('access: [{role: clerk, where: status = param.state}]'),
      /^unknown_name: param.state cannot be used here/,
    ],
    [
      'a row rule on a field that has one',
      orders('access: [{role: clerk, where: is_large}]'),
      /^missing_parameter: A row rule uses param.least/,
    ],
    [
      'one in a join',
      orders(
        'relationships: [{to: orders, role: next, on: "id = next.id and next.status = param.state"}]',
      ),
      /^unknown_name: param.state/,
    ],
  ])('%s is refused', async (_, file, message) => {
    expect(await diagnosed({ orders: file })).toEqual(
      expect.arrayContaining([expect.stringMatching(message)]),
    );
  });

  test('leaves a role that is called param alone', async () => {
    const role = 'relationships: [{to: orders, role: param, on: {parent_id: id}}]';
    const file = orders(role)
      .replace(/parameters:[\s\S]*?fields/, 'fields')
      .replace(/, \{name: is_large[^}]*\}/, '')
      .replace(' or param.isAll', '')
      .replace('param.state', 'orders.param.status');
    expect(await diagnosed({ orders: file })).toEqual([]);
    expect(await diagnosed({ orders: orders(role) })).toEqual([
      expect.stringMatching(/^duplicate: param is the name/),
    ]);
  });

  test('holds for every role', async () => {
    const { model, diagnostics } = await load({
      orders: orders("access: [{role: clerk, where: status = 'open'}]"),
    });
    expect(diagnostics).toEqual([]);
    const { sql } = compile(modelForRole(model, 'clerk'), {
      metrics: ['orders.chosen'],
      parameters: { state: 'open' },
    });
    expect(sql).toContain(`"orders"."status" = 'open' or FALSE`);
    expect(sql.match(/'open'/g)).toHaveLength(2);
  });
});

describe('in a project', () => {
  const text = `
dataset: orders
source: main.orders
primary_key: [id]
parameters:
  - {name: currency, type: string, values: [EUR, USD], description: Money of the answer.}
  - {name: least, type: integer, default: 3}
  - {name: since, type: date}
fields: [{name: id, type: integer}, {name: is_large, expr: amount > param.least, type: boolean}]
segments: [{name: recent, where: day > param.since}]
metrics:
  - {name: revenue, agg: sum, of: amount, where: currency = param.currency}
  - {name: newest, agg: count, where: day > param.since}
`;
  const project = async () => {
    const cwd = folder();
    const database = new DatabaseSync(join(cwd, 'shop.db'));
    database.exec(
      `CREATE TABLE orders (id INTEGER, amount INTEGER, currency TEXT, day DATE); INSERT INTO orders VALUES (1, 10, 'EUR', '2024-01-01'), (2, 20, 'USD', '2024-01-01')`,
    );
    database.close();
    mkdirSync(join(cwd, 'semantic-layer/shop'), { recursive: true });
    writeFileSync(join(cwd, 'semantic-layer/shop/orders.yaml'), text);
    writeFileSync(join(cwd, 'ktx.yaml'), 'connections:\n  shop: {driver: sqlite, path: shop.db}\n');
    return openProject(cwd);
  };

  test('agents find them: by name, by what they say, beside what takes them, and in the file as they read it', async () => {
    const opened = await project();
    try {
      const tools = openToolbox(opened).tools(new AbortController().signal);
      const call = async (name: string, input: object) =>
        (await tools.find((tool) => tool.name === name)?.execute(input))?.markdown ?? '';
      expect(await call('search_context', { text: 'USD' })).toContain('dataset:shop.orders');
      expect(await call('search_context', { text: 'revenue' })).toContain(
        'needs parameter currency (EUR, USD)',
      );
      expect(await call('search_context', { text: 'is_large' })).toContain(
        'boolean, takes parameter least',
      );
      expect(await call('search_context', { text: 'recent' })).toContain('needs parameter since');
      expect(await call('read_context', { name: 'orders' })).toContain(
        'name: currency, type: string, values: [EUR, USD]',
      );
    } finally {
      await opened.close();
    }
  });

  test('versions of a contested metric are compared with the first of their values, or say what is missing', async () => {
    const opened = await project();
    const state = openState(opened.dir);
    const signal = new AbortController().signal;
    const path = 'semantic-layer/shop/orders.yaml';
    const numbersOf = async (name: string, definition: object) => {
      const id = JSON.stringify(definition);
      const variants = [{ id, says: JSON.parse(JSON.stringify(definition)) as Json, evidence: [] }];
      const conflict = { subject: `metric:shop.orders.${name}`, kind: 'metric' as const, variants };
      const comparison = {
        files: new Map([[path, text]]),
        state,
        open: () => opened.warehouse('shop', signal),
        signal,
      };
      return (await compareVersions(conflict, comparison)).get(id);
    };
    try {
      expect(
        await numbersOf('revenue', {
          agg: 'sum',
          of: 'amount',
          where: 'currency = param.currency',
        }),
      ).toEqual({
        value: 10,
        with: { 'orders.currency': 'EUR' },
      });
      expect(await numbersOf('revenue', { agg: 'sum', of: 'amount' })).toEqual({ value: 30 });
      const failure = expect.stringMatching(
        /^The parameter orders\.since has no value; give the parameter a default/,
      ) as unknown;
      expect(await numbersOf('newest', { agg: 'count', where: 'day > param.since' })).toEqual({
        failure,
      });
    } finally {
      state.close();
      await opened.close();
    }
  });
});
