import { expect, test } from 'vitest';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import { indexTables, listProbes } from '../../src/ingest/render/probes.ts';
import { loadModel } from '../../src/semantic/load/load.ts';
import { trino } from '../../src/sql/dialects/trino.ts';

const table = { schema: 'public', table: 'orders', kind: 'table', uniqueKeys: [], foreignKeys: [] };
const column = (nativeType: string, type: 'decimal' | 'integer' | 'string') => ({
  ...table,
  columns: [{ name: 'amount', nativeType, type, nullable: true }],
});

/** The kinds of the probes of a dataset with the sum of a column. */
async function kindsOf(source: string, tables: Catalog['tables']): Promise<readonly string[]> {
  const text = `dataset: orders\nsource: ${source}\nfields: [{name: amount}]\nmetrics: [{name: total, agg: sum, of: amount}]\n`;
  const files = [{ path: 'semantic-layer/lake/orders.yaml', text }];
  const { model } = await loadModel({ dialect: trino, files });
  const catalog = { connection: 'lake', dialect: 'trino', firstSchema: 'public', tables };
  const [dataset] = model.datasets.values();
  if (dataset === undefined) throw new Error('the dataset was not loaded');
  return listProbes(catalog, indexTables(catalog), dataset).map(({ kind }) => kind);
}

test('a sum of numbers is not tried; one of the namesake in another catalog is', async () => {
  const own = column('double', 'decimal');
  const other = { ...column('varchar', 'string'), catalog: 'crm' };
  expect(await kindsOf('public.orders', [own, other])).toEqual([]);
  expect(await kindsOf('crm.public.orders', [own, other])).toEqual(['metric']);
  expect(await kindsOf('public.orders', [other, own])).toEqual([]);
});

test('a sum over a view is tried: its tables can have changed', async () => {
  const view = { ...column('double', 'decimal'), kind: 'view' };
  expect(await kindsOf('public.orders', [view])).toEqual(['metric']);
});

test('a sum of what only counts as a number is tried', async () => {
  expect(await kindsOf('public.orders', [column('oid', 'integer')])).toEqual(['metric']);
});
