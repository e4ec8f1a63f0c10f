import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, property, string } from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { catalogDocuments, type SearchDocument } from '../../src/search/documents.ts';
import { indexedFingerprint, updateIndex } from '../../src/search/index.ts';
import { searchIndex } from '../../src/search/search.ts';
import { relatedWords } from '../../src/search/synonyms.ts';
import { openState, type State } from '../../src/store/state.ts';

let dir = '';
let state: State;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ktx-search-'));
  state = openState(dir);
});

afterEach(() => {
  state.close();
  rmSync(dir, { recursive: true, force: true });
});

function document(
  kind: SearchDocument['kind'],
  path: string,
  more: Partial<SearchDocument> = {},
): SearchDocument {
  const name = path.slice(path.lastIndexOf('.') + 1);
  const parent = path.slice(0, path.lastIndexOf('.'));
  return {
    kind,
    connection: 'w',
    subject: `${kind}:w.${path}`,
    name,
    parent,
    context: [parent],
    ...more,
  };
}

const shop: SearchDocument[] = [
  document('dataset', 'orders.orders', { description: 'One row per order placed in the shop.' }),
  document('metric', 'orders.revenue', {
    synonyms: ['turnover', 'net sales'],
    description: 'Paid amounts in EUR.',
  }),
  document('field', 'orders.revenue_code'),
  document('field', 'orders.orderStatus', { context: ['orders', 'paid', 'refunded'] }),
  document('dataset', 'customers.customers', {
    description: 'People who bought. Not about revenue.',
  }),
  document('field', 'customers.region_id'),
  document('relationship', 'orders.buyer', { context: ['orders', 'customers', 'customer_id'] }),
  document('column', 'raw.stage_orders.revenue'),
  document('table', 'raw.stage_orders.stage_orders'),
];

function index(
  documents: readonly SearchDocument[],
  fingerprint = 'f',
): { written: number; removed: number } {
  return updateIndex(state, { connection: 'w', documents, fingerprint });
}

function names(text: string, options: Parameters<typeof searchIndex>[2] = {}): string[] {
  return searchIndex(state, text, options).map(
    ({ kind, parent, name }) => `${kind} ${parent}.${name}`,
  );
}

describe('what a search finds', () => {
  beforeEach(() => {
    index(shop);
  });

  it('puts the exact name first, and a metric above a column of the same name', () => {
    expect(names('revenue').slice(0, 2)).toEqual([
      'metric orders.revenue',
      'column raw.stage_orders.revenue',
    ]);
    expect(names('orders')[0]).toBe('dataset orders.orders');
  });

  it.each([
    ['revnue', 'metric orders.revenue'],
    ['custmers', 'dataset customers.customers'],
    ['turnover', 'metric orders.revenue'],
    ['net sales', 'metric orders.revenue'],
    ['rev', 'metric orders.revenue'],
    ['REVENUE?', 'metric orders.revenue'],
    ['order status', 'field orders.orderStatus'],
    ['order_status', 'field orders.orderStatus'],
    ['orderstatus', 'field orders.orderStatus'],
    ['refunded', 'field orders.orderStatus'],
    ['customer', 'dataset customers.customers'],
    ['what was our turnover by region last month?', 'metric orders.revenue'],
    ['buyer', 'relationship orders.buyer'],
    ['income by stage', 'metric orders.revenue'],
  ])('%s leads to %s', (text, first) => {
    expect(names(text)[0]).toBe(first);
  });

  it('ranks names above descriptions', () => {
    const found = names('revenue');
    expect(found.indexOf('field orders.revenue_code')).toBeLessThan(
      found.indexOf('dataset customers.customers'),
    );
  });

  it('keeps to the kinds, the connections and the limit that were asked for', () => {
    expect(names('revenue', { kinds: ['column'] })).toEqual(['column raw.stage_orders.revenue']);
    expect(names('revenue', { connections: ['elsewhere'] })).toEqual([]);
    expect(names('orders', { limit: 2 })).toHaveLength(2);
  });

  it('answers the same question the same way, whatever the order of indexing', () => {
    const before = searchIndex(state, 'orders revenue customer');
    state.db.exec(
      'DROP TABLE search_documents_4; DROP TABLE search_terms_4; DROP TABLE search_words_4; DROP TABLE search_roots_4; DROP TABLE search_stems_4; DROP TABLE search_sources_4;',
    );
    index(shop.toReversed());
    expect(searchIndex(state, 'orders revenue customer')).toEqual(before);
  });

  it.each([
    '',
    '   ',
    '"',
    '""',
    "'; DROP TABLE x --",
    'a AND OR NOT',
    'NEAR(a b)',
    'name:revenue',
    '*',
    '-x ^y {z}',
    '😀',
    '\0',
    'ﬁ',
    '\ud800',
    'the of',
    'x'.repeat(10_240),
  ])('takes %j as a question like any other', (text) => {
    expect(() => searchIndex(state, text)).not.toThrow();
  });

  it('takes any text as a question like any other', () => {
    assert(
      property(string({ unit: 'binary', maxLength: 60 }), (text) => {
        searchIndex(state, text);
      }),
      { numRuns: 300 },
    );
  });
});

it.each([
  ['cancelled', 'churn', 'location'],
  ['buying', 'purchase', 'location'],
  ['sold', 'sale', 'churn'],
  ['placed', 'submitted', 'location'],
])('%s leads to %s, not to %s', (word, related, unrelated) => {
  const words = relatedWords([word]);
  expect(words).toContain(related);
  expect(words).not.toContain(unrelated);
});

describe('the index', () => {
  it('writes only what changed and removes what is gone', () => {
    expect(index(shop)).toEqual({ written: shop.length, removed: 0 });
    expect(index(shop)).toEqual({ written: 0, removed: 0 });
    const changed = shop
      .slice(1)
      .map((each) =>
        each.name === 'region_id' ? { ...each, description: 'Where they live' } : each,
      );
    expect(index(changed)).toEqual({ written: 1, removed: 1 });
    expect(names('live')).toEqual(['field customers.region_id']);
    expect(names('placed shop')).toEqual([]);
  });

  it('keeps connections apart', () => {
    index(shop);
    updateIndex(state, {
      connection: 'other',
      documents: [{ ...shop[1], connection: 'other' } as SearchDocument],
      fingerprint: 'g',
    });
    expect(index([])).toEqual({ written: 0, removed: shop.length });
    expect(searchIndex(state, 'revenue').map(({ connection }) => connection)).toEqual(['other']);
    expect([
      indexedFingerprint(state, 'w'),
      indexedFingerprint(state, 'other'),
      indexedFingerprint(state, 'x'),
    ]).toEqual(['f', 'g', undefined]);
  });

  it('is made where it is missing, and survives closing', () => {
    expect(searchIndex(state, 'revenue')).toEqual([]);
    index(shop);
    state.close();
    state = openState(dir);
    expect(names('revenue')[0]).toBe('metric orders.revenue');
  });

  it('has tables and columns of the catalog that no dataset covers', () => {
    const table = (name: string) => ({
      schema: 'main',
      table: name,
      kind: 'table',
      comment: 'Where parcels are',
      uniqueKeys: [],
      foreignKeys: [],
      columns: [{ name: 'parcelId', nativeType: 'int', type: 'integer' as const, nullable: false }],
    });
    const catalog = {
      connection: 'w',
      dialect: 'duckdb',
      firstSchema: 'main',
      tables: [table('parcels'), table('covered')],
    };
    index(catalogDocuments(catalog, (each) => each.table === 'covered'));
    expect(names('parcel id')).toEqual([
      'column main.parcels.parcelId',
      'table main.parcels.parcels',
    ]);
    expect(names('covered')).toEqual([]);
  });
});
