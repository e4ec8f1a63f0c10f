import { beforeEach, describe, expect, test } from 'vitest';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import { openPassedCheck } from '../../src/ingest/render/passed-probes.ts';
import { openState, type State } from '../../src/store/state.ts';
import { read, temporaryFolder, write } from '../store/git-project.ts';
import { ingestHere, ingestedShop } from './ingest-project.ts';

test('statements that passed are not sent again when another metric changes', async () => {
  const dir = await ingestedShop();
  const path = 'semantic-layer/shop/orders.yaml';
  const addMetric = (name: string) => {
    const text = read(dir, path);
    const metrics = text.includes('\nmetrics:\n') ? text : `${text}metrics:\n`;
    const added = `\nmetrics:\n  - name: ${name}\n    expr: sum(amount + 1)\n`;
    write(dir, path, metrics.replace('\nmetrics:\n', added));
  };
  addMetric('first');
  const first = await ingestHere(dir);
  addMetric('second');
  const second = await ingestHere(dir);
  expect([first.quarantined, second.quarantined]).toEqual([[], []]);
  expect(second.queries).toBeLessThan(first.queries);
  const state = openState(dir);
  state.db.exec('DELETE FROM passed_probes');
  state.close();
  addMetric('third');
  expect((await ingestHere(dir)).queries).toBeGreaterThan(second.queries);
});

describe('what passed a check', () => {
  const table = { schema: 'main', table: 'orders', kind: 'table', uniqueKeys: [], foreignKeys: [] };
  const column = { name: 'amount', nativeType: 'REAL', type: 'decimal', nullable: true } as const;
  const shop: Catalog = {
    connection: 'shop',
    dialect: 'sqlite',
    firstSchema: 'main',
    tables: [
      { ...table, columns: [column] },
      { ...table, table: 'big', kind: 'view', columns: [column] },
    ],
  };
  const known = { catalog: shop, configuration: 'connections: {}' };
  const statement = 'SELECT sum("amount") FROM "orders"';
  let state: State;
  beforeEach(() => {
    state = openState(temporaryFolder());
    return () => state.close();
  });

  /** Saves the statement and a model as passed, and tells what another run finds of them. */
  function found(later: typeof known, sql = statement): boolean[] {
    const first = openPassedCheck(state, known);
    first.probes.add(sql);
    first.save('model');
    const second = openPassedCheck(state, later);
    return [second.probes.has(sql), second.hasPassed('model')];
  }

  test('counts for the same warehouse and configuration', () => {
    expect(found(known)).toEqual([true, true]);
    const { probes, hasPassed } = openPassedCheck(state, known);
    expect([probes.has(`${statement} `), hasPassed('another')]).toEqual([false, false]);
  });

  const [orders, big] = shop.tables;
  const others: Readonly<Record<string, typeof known>> = {
    'a type': {
      ...known,
      catalog: {
        ...shop,
        tables: [{ ...table, columns: [{ ...column, nativeType: 'TEXT' }] }, ...(big ? [big] : [])],
      },
    },
    'a table': { ...known, catalog: { ...shop, tables: orders ? [orders] : [] } },
    'the dialect': { ...known, catalog: { ...shop, dialect: 'duckdb' } },
    'the first schema': { ...known, catalog: { ...shop, firstSchema: 'other' } },
    'the configuration': { ...known, configuration: 'connections: {shop: {}}' },
  };
  test.for(Object.entries(others))('counts for nothing when %s changed', ([, later]) => {
    expect(found(later)).toEqual([false, false]);
  });

  test('counts for no statement that may read a view', () => {
    expect(found(known, 'SELECT sum("amount") FROM "BIG"')).toEqual([false, true]);
    const strange = { ...table, table: 'a "view"', kind: 'view', columns: [column] };
    const catalog = { ...shop, tables: [...shop.tables, strange] };
    const check = openPassedCheck(state, { ...known, catalog });
    check.probes.add(statement);
    expect(check.probes.has(statement)).toBe(false);
  });

  test('is forgotten once no run asks about it', () => {
    expect(found(known)).toEqual([true, true]);
    openPassedCheck(state, known).save(undefined);
    const { probes, hasPassed } = openPassedCheck(state, known);
    expect([probes.has(statement), hasPassed('model')]).toEqual([false, false]);
  });

  test('counts for nothing when somebody else wrote it, or it is torn', () => {
    expect(found(known)).toEqual([true, true]);
    const row = () => state.db.prepare('SELECT record FROM passed_probes').get()?.['record'];
    const sealed = row();
    expect(sealed).toBeInstanceOf(Uint8Array);
    const own = Buffer.from(sealed instanceof Uint8Array ? sealed : []);
    const foreign = openState(temporaryFolder());
    const theirs = openPassedCheck(foreign, known);
    theirs.probes.add(statement);
    theirs.save('model');
    const copied = foreign.db.prepare('SELECT record FROM passed_probes').get()?.['record'];
    foreign.close();
    const torn = own.subarray(0, own.length - 1);
    const plain = JSON.stringify({ model: '', probes: [] });
    for (const record of [torn, Buffer.from(copied as Uint8Array), plain, '']) {
      state.db.prepare('UPDATE passed_probes SET record = ?').run(record);
      const { probes, hasPassed } = openPassedCheck(state, known);
      expect([probes.has(statement), hasPassed('model')]).toEqual([false, false]);
    }
  });
});
