import { expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { choicesOf } from '../../src/semantic/query/errors.ts';
import { compile, load } from './shop.ts';

const customers = (name: string, more = '') => `
dataset: ${name}
source: ${name}
primary_key: [id]
fields: [{name: id, type: integer}, {name: country, type: string}, {name: region_id, type: integer}]
${more}`;
const orders = (relationships: string) => `
dataset: orders
source: orders
primary_key: [id]
fields:
  - {name: id, type: integer}
  - {name: customer_id, type: integer}
  - {name: ship_to, type: integer}
metrics: [{name: order_count, agg: count}]
relationships: [${relationships}]
`;
const files = (relationships: string) => ({
  orders: orders(relationships),
  raw_customers: customers('raw_customers'),
  dim_customers: customers('dim_customers', 'relationships: [{to: regions, on: {region_id: id}}]'),
  regions:
    'dataset: regions\nsource: regions\nprimary_key: [id]\nfields: [{name: id, type: integer}, {name: name, type: string}]\n',
});
const twoColumns =
  '{to: raw_customers, on: {customer_id: id}}, {to: dim_customers, on: {ship_to: id}}';

async function refusal(relationships: string, dimension: string): Promise<UserError | undefined> {
  const { model } = await load(files(relationships));
  try {
    compile(model, { metrics: ['orders.order_count'], dimensions: [dimension] });
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

test('a name of one copy of a thing is ambiguous where other columns lead to another copy', async () => {
  const error = await refusal(twoColumns, 'dim_customers.country');
  expect(error?.code).toBe('ambiguous_path');
  expect(error?.message).toContain(
    'orders leads by ship_to to dim_customers and by customer_id to raw_customers',
  );
  expect(choicesOf(error as UserError)).toEqual([
    'orders.dim_customers.country',
    'orders.raw_customers.country',
  ]);
  for (const choice of choicesOf(error as UserError))
    expect(await refusal(twoColumns, choice)).toBeUndefined();
  expect((await refusal(twoColumns, 'raw_customers.country'))?.code).toBe('ambiguous_path');
});

test('so is what only one of the copies leads to, and its choices have answers', async () => {
  const error = await refusal(twoColumns, 'regions.name');
  expect(error?.code).toBe('ambiguous_path');
  expect(choicesOf(error as UserError)).toEqual(['orders.dim_customers.regions.name']);
  expect(await refusal(twoColumns, 'orders.dim_customers.regions.name')).toBeUndefined();
});

test('a role says which is meant, and one column that leads to both copies means one thing', async () => {
  const named =
    '{to: raw_customers, on: {customer_id: id}, role: buyer}, {to: dim_customers, on: {ship_to: id}, role: recipient}';
  expect(await refusal(named, 'recipient.country')).toBeUndefined();
  expect(await refusal(named, 'buyer.country')).toBeUndefined();
  expect((await refusal(named, 'dim_customers.country'))?.code).toBe('ambiguous_path');
  const oneColumn =
    '{to: raw_customers, on: {customer_id: id}}, {to: dim_customers, on: {customer_id: id}}';
  expect(await refusal(oneColumn, 'dim_customers.country')).toBeUndefined();
});
