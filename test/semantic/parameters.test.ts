import { describe, expect, test } from 'vitest';
import { modelFor } from '../../src/semantic/access.ts';
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
  (await load(files)).diagnostics.filter(({ severity }) => severity === 'error').map(({ rule, message }) => `${rule}: ${message}`);

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
    expect(receipt.parameters).toEqual({ 'orders.isAll': true, 'orders.least': -7, 'orders.state': 'paid' });
    expect(compile(model, { metrics: ['orders.count'] }).receipt.parameters).toEqual({});
    expect(compile(model, { metrics: ['orders.chosen'], parameters: { least: 4 } }).receipt.notes).toEqual(['Nothing that is asked uses the parameter least']); // prettier-ignore
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
    expect(() => compile(model, { metrics: ['orders.chosen'], parameters: { [name]: value } })).toThrow(
      expect.objectContaining({ code: 'wrong_parameter' }),
    );
  });

  test('a name means the parameter of each dataset that declares it alike, else it is ambiguous', async () => {
    const metrics = ['orders.count', 'tickets.few'];
    const alike = await load({ orders: orders(), tickets: tickets('{name: least, type: integer, default: 3}') });
    const given = (parameters: Record<string, number>) => compile(alike.model, { metrics, parameters }).receipt.parameters;
    expect(given({ least: 5 })).toEqual({ 'tickets.least': 5 });
    expect(given({ 'tickets.least': 6, least: 5 })).toEqual({ 'tickets.least': 6 });
    const { model } = await load({ orders: orders(), tickets: tickets('{name: least, type: integer, default: 4}') });
    expect(() => compile(model, { metrics, parameters: { least: 5 } })).toThrow(
      expect.objectContaining({ code: 'ambiguous_name', details: { choices: ['orders.least', 'tickets.least'] } }),
    );
  });
});

describe('a declaration', () => {
  test.each([
    ['a default of another type', orders().replace('default: 3', 'default: three'), /^wrong_parameter: .*least is of type integer/],
    ['a default that is no value', orders().replace('default: paid', 'default: lost'), /^wrong_parameter: "lost" is no value/],
    ['two of a name', orders().replace('name: least', 'name: state'), /^duplicate: state is declared twice/],
    ['one that is not declared', orders().replace('param.state', 'param.stat'), /^unknown_name: param.stat is no parameter/],
    [
      'one in a row rule',
      orders('access: [{role: clerk, where: status = param.state}]'),
      /^unknown_name: param.state is no parameter that can stand here/,
    ],
    [
      'a row rule on a field that has one',
      orders('access: [{role: clerk, where: is_large}]'),
      /^missing_parameter: Who asks would choose param.least/,
    ],
    [
      'one in a join',
      orders('relationships: [{to: orders, role: next, on: "id = next.id and next.status = param.state"}]'),
      /^unknown_name: param.state/,
    ],
  ])('%s is refused', async (_, file, message) => {
    expect(await diagnosed({ orders: file })).toEqual(expect.arrayContaining([expect.stringMatching(message)]));
  });

  test('leaves a role that is called param alone', async () => {
    const role = 'relationships: [{to: orders, role: param, on: {parent_id: id}}]';
    const file = orders(role).replace(/parameters:[\s\S]*?fields/, 'fields').replace(/, \{name: is_large[^}]*\}/, '').replace(' or param.isAll', '').replace('param.state', 'orders.param.status'); // prettier-ignore
    expect(await diagnosed({ orders: file })).toEqual([]);
    expect(await diagnosed({ orders: orders(role) })).toEqual([expect.stringMatching(/^duplicate: param is the name/)]);
  });

  test('holds for every role', async () => {
    const { model, diagnostics } = await load({ orders: orders("access: [{role: clerk, where: status = 'open'}]") });
    expect(diagnostics).toEqual([]);
    const { sql } = compile(modelFor(model, 'clerk'), { metrics: ['orders.chosen'], parameters: { state: 'open' } });
    expect(sql).toContain(`"orders"."status" = 'open' or FALSE`);
    expect(sql.match(/'open'/g)).toHaveLength(2);
  });
});
