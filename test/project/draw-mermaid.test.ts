import { expect, test } from 'vitest';
import { drawMermaid } from '../../src/project/graph/draw-mermaid.ts';

// What it prints was read by Mermaid 12.3 itself.
test('a diagram of Mermaid has every join with its ends, and every dataset, whatever its name', () => {
  const dataset = { key: [], fields: 0, metrics: 0, usage: 0 };
  const join = { subject: '', seen: [], cardinality: 'many_to_one', state: 'declared' as const };
  const text = drawMermaid({
    connection: 'shop',
    datasets: ['orders', 'alone "x" 😀 50%\n'].map((name) => ({ ...dataset, name })),
    joins: [
      { ...join, from: 'orders', to: 'customers', role: 'customers', on: { customer_id: 'id' } },
      { ...join, from: 'orders', to: 'places', role: 'shipped to', on: {}, state: 'in_doubt' },
      { ...join, from: 'a b', to: 'orders', role: 'orders', on: { a: 'b', c: 'd"' } },
      { ...join, from: 'one', to: 'two', role: 'two', on: { id: 'id' }, cardinality: 'one_to_one' },
    ],
  });
  expect(text).toBe(`erDiagram
  "orders" }o--|| "customers" : "customer_id = id"
  "orders" }o..|| "places" : "shipped to: a condition"
  "a b" }o--|| "orders" : "a = b and c = d#34;"
  "one" |o--|| "two" : "id = id"
  "alone #34;x#34; 😀 50#37;#10;"`);
});
