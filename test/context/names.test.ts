import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Catalog, CatalogTable } from '../../src/context/catalog/catalog.ts';
import { datasetNames, keepNames } from '../../src/context/catalog/dataset-names.ts';

function table(schema: string, name: string, columns: readonly string[] = []): CatalogTable {
  const typed = columns.map((column) => ({
    name: column,
    nativeType: 'text',
    type: 'string' as const,
    nullable: true,
  }));
  return { schema, table: name, kind: 'table', columns: typed, uniqueKeys: [], foreignKeys: [] };
}

function catalog(...tables: readonly CatalogTable[]): Catalog {
  return { connection: 'w', dialect: 'sqlite', firstSchema: 'public', tables };
}

/** The dataset of each table, with its fields. */
function allNames(of: Catalog): string[] {
  const names = datasetNames(of);
  return of.tables.flatMap((one) => [
    names.dataset(one),
    ...one.columns.map(({ name }) => names.field(one, name)),
  ]);
}

function named(tables: readonly CatalogTable[]): string[] {
  const names = datasetNames({ firstSchema: 'public', tables });
  return tables.map((one) => names.dataset(one));
}

describe('dataset names', () => {
  it('are the table in lower case, with the schema where it is not the first', () => {
    const tables = [
      table('public', 'Orders'),
      table('crm', 'orders'),
      table('public', 'Order Details'),
      table('public', '2024_sales'),
      table('Größe', 'Café'),
    ];
    expect(named(tables)).toEqual([
      'orders',
      'crm__orders',
      'order_details',
      '_2024_sales',
      'grosse__cafe',
    ]);
  });

  it('get a suffix where they collide; the table that is spelled like the name keeps it', () => {
    const [lower, upper, both] = named([
      table('public', 'orders'),
      table('public', 'ORDERS'),
      table('public', 'Orders'),
    ]);
    expect(lower).toBe('orders');
    expect(upper).toMatch(/^orders_[0-9a-f]{6}$/);
    expect(both).toMatch(/^orders_[0-9a-f]{6}$/);
    expect(named([table('sales', 'orders'), table('public', 'sales__orders')])[1]).toBe(
      'sales__orders',
    );
  });

  it('are in Latin letters, except where a recorded catalog has other scripts without them', () => {
    const scripts = catalog(table('public', 'Заказы', ['订单_id', 'сумма']), table('учёт', 'a'));
    const readable = ['zakazy', 'dingdan_id', 'summa', 'uchet__a'];
    expect(allNames(keepNames(scripts, undefined))).toEqual(readable);
    expect(allNames(keepNames(scripts, catalog(table('public', 'orders'))))).toEqual(readable);
    const latin: Catalog = { ...catalog(table('public', '订单')), letters: 'latin' };
    expect(allNames(keepNames(scripts, latin))).toEqual(readable);
    expect(allNames(keepNames(scripts, scripts)).join(' ')).toMatch(
      /^x[0-9a-f]{8} id x[0-9a-f]{8} x[0-9a-f]{8}__a$/,
    );
    expect(keepNames(catalog(table('public', 'Größe')), undefined).letters).toBeUndefined();
  });

  it('stay with their tables and columns, whatever comes or goes', () => {
    const first = keepNames(
      catalog(table('public', 'Заказы', ['Ёлка']), table('crm', 'Orders')),
      undefined,
    );
    const both = catalog(
      table('public', 'Заказы', ['Ёлка', 'ELKA', 'elka']),
      table('public', 'zakazy'),
      table('crm', 'Orders'),
      table('public', 'crm__orders'),
    );
    const second = keepNames(both, first);
    const [orders, elka, upper, lower, late, crm, lateCrm] = allNames(second);
    expect([orders, elka, crm]).toEqual(['zakazy', 'elka', 'crm__orders']);
    expect(upper).toMatch(/^ELKA_[0-9a-f]{6}$/);
    expect(lower).toMatch(/^elka_[0-9a-f]{6}$/);
    expect(late).toMatch(/^zakazy_[0-9a-f]{6}$/);
    expect(lateCrm).toMatch(/^crm__orders_[0-9a-f]{6}$/);
    expect(keepNames(both, second)).toEqual(second);
    const left = catalog(table('public', 'zakazy'), table('public', 'crm__orders'));
    expect(allNames(keepNames(left, second))).toEqual([late, lateCrm]);
    const moved = { ...both, firstSchema: 'crm' };
    expect(allNames(keepNames(moved, second))).toEqual(allNames(second));
  });

  it('are unique, fit for a file and for a query, and the same whatever else there is', () => {
    const schema = fc.constantFrom('public', 'Public', 'crm', 'x.y');
    const name = fc.oneof(
      fc.constantFrom('a', 'A', 'a b', 'a-b', 'crm__a', '名前', '', 'con', 'ä'),
      fc.string({ unit: 'grapheme', maxLength: 200 }),
    );
    const tables = fc.uniqueArray(fc.tuple(schema, name), {
      selector: ([a, b]) => JSON.stringify([a, b]),
      maxLength: 12,
    });
    fc.assert(
      fc.property(tables, fc.nat(), (pairs, seed) => {
        const all = pairs.map(([one, other]) => table(one, other));
        const names = named(all);
        expect(new Set(names).size).toBe(names.length);
        for (const one of names) expect(one).toMatch(/^[a-z_][a-z0-9_]{0,239}$/);
        const turned = seed % (all.length + 1);
        const rotated = [...all.slice(turned), ...all.slice(0, turned)];
        expect(named(rotated)).toEqual([...names.slice(turned), ...names.slice(0, turned)]);
        expect(named([...all, table('elsewhere', 'unrelated')]).slice(0, -1)).toEqual(names);
      }),
    );
  });
});

describe('field names', () => {
  it('are the column where it is an identifier, else a slug that no column has', () => {
    const columns = ['id', 'ID', 'Unit Price', 'unit_price', 'unit-price', '1st', '%', 'order'];
    const orders = table('public', 'orders', columns);
    const names = datasetNames({ firstSchema: 'public', tables: [orders] });
    const [id, upper, spaced, plain, dashed, leading, sign, word] = columns.map((column) =>
      names.field(orders, column),
    );
    expect([id, upper, plain, leading, word]).toEqual(['id', 'ID', 'unit_price', '_1st', 'order']);
    expect(spaced).toMatch(/^unit_price_[0-9a-f]{6}$/);
    expect(dashed).toMatch(/^unit_price_[0-9a-f]{6}$/);
    expect(spaced).not.toBe(dashed);
    expect(sign).toMatch(/^x?_?[0-9a-z_]+$/);
  });
});
