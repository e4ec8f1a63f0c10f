import { assert, property, shuffledSubarray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CatalogTable, LinkFinding, ScanFindings } from '../../src/context/catalog/catalog.ts';
import { scanClaims } from '../../src/scan/scan-claims.ts';

const table = (name: string, columns: CatalogTable['columns']): CatalogTable => ({
  schema: 'main',
  table: name,
  kind: 'table',
  columns,
  uniqueKeys: [],
  foreignKeys: [],
});
const column = (name: string, type: CatalogTable['columns'][number]['type'] = 'integer') => ({
  name,
  nativeType: type,
  type,
  nullable: true,
});
const ref = (name: string) => ({ schema: 'main', table: name });

const link: LinkFinding = {
  from: { table: ref('Order'), columns: ['buyer id'] },
  to: { table: ref('customer'), columns: ['id'] },
  status: 'accepted',
  origin: 'inferred',
  cardinality: 'many_to_one',
  role: 'buyer',
  probability: 0.93,
  evidence: { measured: true, containment: 0.991, orphans: 9, rows: 1000, name_similarity: 0.9 },
};

const findings: ScanFindings = {
  catalog: {
    connection: 'shop',
    dialect: 'sqlite',
    firstSchema: 'main',
    tables: [
      {
        ...table('Order', [
          column('id'),
          column('buyer id'),
          { ...column('count', 'string'), values: ['a', 'b'] },
          { ...column('day', 'date'), comment: 'When it was placed.' },
        ]),
        comment: 'Every order.',
      },
      table('customer', [column('id'), column('born', 'date'), column('seen', 'datetime')]),
    ],
  },
  primaryKeys: [
    {
      table: ref('customer'),
      columns: ['id'],
      status: 'accepted',
      origin: 'inferred',
      probability: 0.8,
      evidence: {},
    },
  ],
  links: [link, { ...link, from: { table: ref('customer'), columns: ['id'] }, status: 'review' }],
};

describe('the claims of a scan', () => {
  test('state structure, keys, the accepted link, the one time field and one count that collides with no field', () => {
    const facts = scanClaims(findings)
      .filter(({ kind }) => kind !== 'field' && kind !== 'type')
      .map(({ subject, kind, body }) => `${subject} ${kind} ${JSON.stringify(body)}`);
    expect(facts).toEqual(
      [
        'metric:shop.customer.count metric {"agg":"count"}',
        'metric:shop.order.row_count metric {"agg":"count"}',
        'dataset:shop.customer dataset {"source":{"schema":"main","table":"customer"},"kind":"table"}',
        'dataset:shop.order dataset {"source":{"schema":"main","table":"Order"},"kind":"table"}',
        'relationship:shop.order(buyer_id) relationship {"to":"customer","on":{"buyer_id":"id"},"role":"buyer","cardinality":"many_to_one"}',
        'relationship:shop.customer(id) possible_relationship {"to":"customer","on":{"id":"id"}}',
        'dataset:shop.order description "Every order."',
        'field:shop.order.day description "When it was placed."',
        'field:shop.order.count values ["a","b"]',
        'dataset:shop.customer primary_key ["id"]',
        'dataset:shop.order default_time "day"',
      ].sort((a, b) => facts.indexOf(a) - facts.indexOf(b)),
    );
  });

  test('do not change with the order of what was found', () => {
    const expected = JSON.stringify(scanClaims(findings));
    assert(
      property(
        shuffledSubarray([0, 1], { minLength: 2 }),
        shuffledSubarray([0, 1], { minLength: 2 }),
        (tables, links) => {
          const shuffled = {
            ...findings,
            catalog: {
              ...findings.catalog,
              tables: tables.flatMap((index) => findings.catalog.tables[index] ?? []),
            },
            links: links.flatMap((index) => findings.links[index] ?? []),
          };
          expect(JSON.stringify(scanClaims(shuffled))).toBe(expected);
        },
      ),
    );
  });

  test('hold one relationship where two are declared on the same columns, whichever is found first, and show the other', () => {
    const declared = {
      ...link,
      origin: 'declared',
      probability: 1,
      evidence: {},
      role: undefined,
    } as const;
    const other = { ...declared, to: { table: ref('Order'), columns: ['id'] } };
    const relationships = (links: readonly LinkFinding[]) =>
      scanClaims({ ...findings, links }).filter(({ kind }) => kind === 'relationship');
    const found = relationships([declared, other]);
    expect(found).toEqual(relationships([other, declared]));
    expect(found.map(({ body }) => body)).toEqual([
      { to: 'order', on: { buyer_id: 'id' }, cardinality: 'many_to_one' },
    ]);
    expect(found[0]?.evidence[0]?.measured).toEqual({ also_refers_to: ['customer(id)'] });
  });

  test('say what an inferred link refers to, where that is no key yet; a declared one proves nothing', () => {
    const unique = (origin: LinkFinding['origin'], columns: readonly string[]) => {
      const links = ['a', 'b'].map((name) => ({
        ...link,
        origin,
        from: { ...link.from, columns: [name] },
        to: { ...link.to, columns },
      }));
      const claims = scanClaims({ ...findings, links }).filter(({ kind }) => kind === 'unique_key');
      return claims.map(({ subject, body }) => [subject, body]);
    };
    expect(unique('inferred', ['seen', 'born'])).toEqual([
      ['dataset:shop.customer', ['born', 'seen']],
    ]);
    expect(unique('inferred', ['id'])).toEqual([]);
    expect(unique('declared', ['born'])).toEqual([]);
  });

  test('do not change with a few more rows', () => {
    const later = {
      ...link,
      probability: 0.94,
      evidence: { ...link.evidence, containment: 0.989, orphans: 12, rows: 1100 },
    };
    expect(scanClaims({ ...findings, links: [later] })).toEqual(
      scanClaims({ ...findings, links: [link] }),
    );
  });
});
