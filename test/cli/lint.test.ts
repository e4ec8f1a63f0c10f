import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ktx, ktxJson, shopProject } from './run-cli.ts';

test('ktx sql --lint runs nothing, fails where it finds something, and proposes the metric query', async () => {
  const cwd = await shopProject();
  mkdirSync(join(cwd, 'semantic-layer/warehouse'), { recursive: true });
  const files = {
    customers:
      'dataset: customers\nsource: customers\nprimary_key: [id]\nfields: [{name: id}, {name: region}]\nmetrics: [{name: customer_count, agg: count, of: id}]\n',
    orders:
      'dataset: orders\nsource: orders\nprimary_key: [id]\nfields: [{name: id}, {name: customer_id}]\nmetrics: [{name: revenue, agg: sum, of: amount}]\nrelationships: [{to: customers, on: {customer_id: id}}]\n',
  };
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(cwd, `semantic-layer/warehouse/${name}.yaml`), text);
  const wrong =
    'SELECT c.region, count(c.id) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.region';
  const found = await ktxJson(['sql', '--lint', wrong], { cwd });
  expect(found.code).toBe(1);
  expect(found.envelope).toMatchObject({
    error: { code: 'sql_lint' },
    data: {
      findings: [{ rule: 'fan_out' }],
    },
  });
  const right =
    "SELECT c.region, sum(o.amount) FROM orders o LEFT JOIN customers c ON o.customer_id = c.id WHERE c.region = 'O''Fallon' GROUP BY c.region";
  const fine = await ktx(['sql', '--lint', right], { cwd });
  expect(fine).toMatchObject({ code: 0, stdout: 'No findings.\n' });
  expect(fine.stderr).toContain('sl query -m orders.revenue -d orders.customers.region --where');
  const nothing = await ktx(['sql', '--lint', 'SELECT * FROM no_such_table'], { cwd });
  expect(nothing).toMatchObject({ code: 0, stdout: 'No findings.\n' });
});
