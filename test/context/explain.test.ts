import { describe, expect, it } from 'vitest';
import type { Catalog, ScanFindings } from '../../src/context/catalog/catalog.ts';
import { subjects, type Claim } from '../../src/context/claims/claim.ts';
import { compileDatasets } from '../../src/context/compile/compile.ts';
import { findExplanations, type Provenance } from '../../src/context/compile/explain.ts';
import { mergeDataset } from '../../src/context/merge/merge-dataset.ts';
import { UserError } from '../../src/lib/error.ts';

const evidence = {
  connection: 'shop',
  origin: 'catalog',
  extractor: 'structure@1',
  item: 'sources/shop/main.jsonl',
  location: 'orders',
  confidence: 1,
} as const;
const measured = {
  ...evidence,
  origin: 'code',
  extractor: 'relationships@1',
  measured: { orphans: 'none' },
  confidence: 0.9,
} as const;
const about = subjects.dataset('shop', 'orders');
const claims: Claim[] = [
  {
    subject: about,
    kind: 'dataset',
    body: { source: { schema: 'main', table: 'orders' }, kind: 'table' },
    evidence: [evidence],
  },
  ...['id', 'parent_id'].map((column, position): Claim => ({
    subject: subjects.field('shop', 'orders', column),
    kind: 'field',
    body: { column, position },
    evidence: [evidence],
  })),
  {
    subject: subjects.field('shop', 'orders', 'id'),
    kind: 'description',
    body: 'from the catalog',
    evidence: [evidence],
  },
  {
    subject: subjects.field('shop', 'orders', 'id'),
    kind: 'description',
    body: 'guessed',
    evidence: [{ ...evidence, origin: 'model' }],
  },
  {
    subject: subjects.relationship('shop', 'orders', ['parent_id']),
    kind: 'relationship',
    body: { to: 'orders', on: { parent_id: 'id' }, role: 'parent' },
    evidence: [measured],
  },
];

const ref = { schema: 'main', table: 'orders' };
const column = (name: string) => ({
  name,
  nativeType: 'integer',
  type: 'integer' as const,
  nullable: true,
});
const catalog: Catalog = {
  connection: 'shop',
  dialect: 'duckdb',
  firstSchema: 'main',
  tables: [
    {
      ...ref,
      kind: 'table',
      columns: [column('id'), column('parent_id'), column('other_id')],
      uniqueKeys: [],
      foreignKeys: [],
    },
  ],
};
const inDoubt: ScanFindings['links'][number] = {
  from: { table: ref, columns: ['other_id'] },
  to: { table: ref, columns: ['id'] },
  status: 'review',
  origin: 'inferred',
  cardinality: 'many_to_one',
  probability: 0.6,
  evidence: { containment: 0.8 },
};

function provenance(): Provenance {
  const compiled = compileDatasets(claims).artifacts[0];
  const merged = mergeDataset({
    connection: 'shop',
    dataset: 'orders',
    compiled,
    text: undefined,
    base: new Map(),
    edits: [],
  });
  const text = `${merged.text?.replace('role: parent', 'role: mother')}metrics:\n  # net\n  - name: revenue\n    agg: sum\n    of: id\n`;
  const artifact = { path: 'semantic-layer/shop/orders.yaml', text };
  return {
    connection: 'shop',
    datasets: [{ dataset: 'orders', claims: { base: merged.base, claims, damaged: [] }, artifact }],
    findings: { catalog, primaryKeys: [], links: [inDoubt] },
  };
}

describe('explain', () => {
  it('leads from a value in a file to the claims and to the item, the best claim first', () => {
    const [explanation] = findExplanations('orders.id', provenance());
    expect(explanation?.subject).toBe('field:shop.orders.id');
    expect(explanation?.values).toContainEqual({
      key: 'description',
      value: 'from the catalog',
      by: 'ktx',
      path: 'semantic-layer/shop/orders.yaml',
      line: 5,
    });
    const described = explanation?.claims.filter(({ kind }) => kind === 'description');
    expect(described?.map(({ body, shown }) => [body, shown])).toEqual([
      ['from the catalog', true],
      ['guessed', false],
    ]);
    expect(described?.[0]?.evidence).toEqual([evidence]);
  });

  it('says of a value of a person where they wrote it', () => {
    expect(findExplanations('orders.revenue', provenance())).toMatchObject([
      {
        subject: 'metric:shop.orders.revenue',
        claims: [],
        values: [
          { key: 'name', by: 'person', line: 11 },
          { key: 'agg', line: 12 },
          { key: 'of', value: 'id', line: 13 },
        ],
      },
    ]);
  });

  it('explains a column that refers to another dataset as a field and as a relationship', () => {
    const [field, relationship] = findExplanations('orders.parent_id', provenance());
    expect([field?.subject, relationship?.subject]).toEqual([
      'field:shop.orders.parent_id',
      'relationship:shop.orders(parent_id)',
    ]);
    expect(relationship?.claims[0]?.evidence[0]?.measured).toEqual({ orphans: 'none' });
    expect(relationship?.values.map(({ key, by, line }) => [key, by, line])).toEqual([
      ['to', 'ktx', 8],
      ['on', 'ktx', 8],
      ['role', 'person', 8],
    ]);
  });

  it('takes every spelling of a subject', () => {
    for (const wanted of ['orders', 'ORDERS', 'shop.orders', about])
      expect(findExplanations(wanted, provenance())[0]?.subject).toBe(about);
    for (const wanted of [
      'orders(parent_id)',
      'orders( parent_id )',
      'relationship:shop.orders(parent_id)',
    ]) {
      expect(findExplanations(wanted, provenance()).map(({ subject }) => subject)).toEqual([
        'relationship:shop.orders(parent_id)',
      ]);
    }
  });

  it('knows what only a scan has found', () => {
    expect(findExplanations('orders(other_id)', provenance())).toEqual([
      {
        subject: 'relationship:shop.orders(other_id)',
        values: [],
        claims: [],
        findings: [inDoubt],
      },
    ]);
  });

  it('names the nearest where nothing is known', () => {
    expect(() => findExplanations('order.idd', provenance())).toThrow(UserError);
    expect(() => findExplanations('order.idd', provenance())).toThrow(
      expect.objectContaining({ code: 'subject_unknown', hint: 'Did you mean orders.id?' }),
    );
  });
});
