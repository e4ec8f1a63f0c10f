import { expect, test } from 'vitest';
import type { z } from 'zod';
import type { querySchema } from '../../src/semantic/query/query.ts';
import { engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

const items = `
dataset: items
source: items
primary_key: [id]
fields:
  - {name: id, type: integer}
  - {name: shop, type: string}
  - {name: price, expr: '"unit price"', type: decimal}
  - {name: cleaned, expr: 'CAST(replace("unit price", '','', ''.'') AS REAL)', type: decimal}
  - {name: quantity, type: integer}
relationships: [{to: shops, on: {shop: name}}]
`;
const shops = `
dataset: shops
source: shops
primary_key: [name]
fields: [{name: name, type: string}, {name: rent, type: decimal}]
metrics: [{name: rent, agg: sum, of: rent}]
`;

test('SQLite computes with no text in a column of numbers; empty text counts as NULL', async () => {
  const engine = await engineWith(
    'sqlite',
    `CREATE TABLE items (id INTEGER, shop TEXT, "unit price" NUMERIC, quantity INTEGER);
     INSERT INTO items VALUES (1, 'a', 9.5, 2), (2, 'a', '', 3), (3, 'a', NULL, 4), (4, 'b', '12,50', 5), (5, 'b', 1, 6);
     CREATE TABLE shops (name TEXT, rent NUMERIC);
     INSERT INTO shops VALUES ('a', 100), ('b', 'N/A');`,
  );
  try {
    const { model } = await load({ items, shops }, engine.warehouse.dialect);
    const answer = (query: z.input<typeof querySchema>) =>
      rowsOf(engine, compile(model, query).sql);
    const ofA = ["items.shop = 'a'"];
    const aggregates = [
      'sum(items.price)',
      'avg(items.price)',
      'max(items.price)',
      'median(items.price)',
      'sum(items.price * items.quantity)',
      'sum(coalesce(items.price, 0))',
      "sum(CASE WHEN items.shop <> 'c' THEN items.price END)",
    ];
    expect(await answer({ metrics: aggregates, where: ofA })).toEqual([
      [9.5, 9.5, 9.5, 9.5, 19, 9.5, 9.5],
    ]);
    for (const metric of aggregates)
      await expect(answer({ metrics: [metric] }), metric).rejects.toMatchObject({
        code: 'not_a_number_value',
        message: expect.stringContaining(
          '"12,50" in a column of numbers is not a number',
        ) as string,
      });
    // One row per shop, beside a dimension that repeats it.
    await expect(
      answer({ metrics: ['shops.rent'], dimensions: ['items.quantity'] }),
    ).rejects.toMatchObject({ code: 'not_a_number_value' });
    // What converts the text itself sees it as it is stored.
    expect(
      await answer({
        metrics: ['sum(items.cleaned)', "sum(CAST(replace(items.price, ',', '.') AS REAL))"],
        where: ["items.shop = 'b'"],
      }),
    ).toEqual([[13.5, 13.5]]);
  } finally {
    await engine.close();
  }
});
