import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  shortId,
  subjects,
  type Claim,
  type ClaimKind,
  type Evidence,
} from '../../src/context/claims/claim.ts';
import { compileDatasets } from '../../src/context/compile/compile.ts';
import { rankClaims } from '../../src/context/compile/claim-precedence.ts';
import type { Json } from '../../src/lib/json.ts';
import { datasetSchema } from '../../src/semantic/model/dataset.ts';

type Origin = Evidence['origin'];

function because(origin: Origin, confidence = 1): Evidence {
  return { connection: 'shop', origin, extractor: `${origin}@1`, confidence };
}

function claim(subject: string, kind: ClaimKind, body: Json): Claim {
  return { subject, kind, body, evidence: [because('catalog')] };
}

function said(origin: Origin, one: Claim): Claim {
  return { ...one, evidence: [because(origin)] };
}

const dataset = (name: string) => subjects.dataset('shop', name);
const field = (name: string, column: string) => subjects.field('shop', name, column);

function table(name: string, columns: readonly string[]): Claim[] {
  return [
    claim(dataset(name), 'dataset', { source: { schema: 'main', table: name }, kind: 'table' }),
    ...columns.map((column, at) =>
      claim(field(name, column), 'field', { column, position: at + 1 }),
    ),
  ];
}

function link(
  name: string,
  on: Record<string, string>,
  body: { to: string; role?: string; cardinality?: string },
): Claim {
  return said(
    'code',
    claim(subjects.relationship('shop', name, Object.keys(on)), 'relationship', { on, ...body }),
  );
}

const shop = [
  ...table('orders', ['id', 'buyer_id', 'gift_to_id', 'status']),
  ...table('customers', ['id', 'name']),
];

function compiled(claims: readonly Claim[], deleted: ReadonlySet<string> = new Set()) {
  const result = compileDatasets(claims, { deleted });
  return { ...result, orders: result.artifacts.find((one) => one.dataset === 'orders') };
}

describe('a metric that only a model read', () => {
  const metric = subjects.metric('shop', 'orders', 'paid');
  const read = said('model', claim(metric, 'metric', { agg: 'count', where: "status = 'paid'" }));
  const claims = [
    ...shop,
    read,
    said('model', claim(metric, 'description', 'Those that were paid.')),
  ];
  const pin = (choose: string) => ({
    subject: metric,
    kind: 'metric',
    choose,
    seen: [shortId(read)],
  });
  const metricsWith = (
    pins: Parameters<typeof compileDatasets>[1],
    of: readonly Claim[] = claims,
  ) => compileDatasets(of, pins).artifacts.find((one) => one.dataset === 'orders')?.metrics;

  it('is unreviewed until a person accepts it or another source says the same', () => {
    expect(metricsWith({})).toMatchObject([{ name: 'paid', unreviewed: true }]);
    expect(metricsWith({ pins: [pin(shortId(read))] })?.[0]).not.toHaveProperty('unreviewed');
    expect(metricsWith({}, [...claims, said('code', read)])?.[0]).not.toHaveProperty('unreviewed');
  });

  it('is gone once a person rejected it; another definition asks again', () => {
    const rejected = { pins: [pin('none')] };
    expect(metricsWith(rejected)).toBeUndefined();
    expect(compileDatasets(claims, rejected).quarantined).toEqual([]);
    const other = said('model', claim(metric, 'metric', { agg: 'count' }));
    expect(metricsWith(rejected, [...claims, other])).toMatchObject([{ unreviewed: true }]);
    const known = said('code', claim(metric, 'metric', { agg: 'count' }));
    expect(metricsWith(rejected, [...claims, known])).toMatchObject([{ name: 'paid' }]);
  });
});

it('a model gives no synonym that is a name or a synonym of something else', () => {
  const metric = (name: string) => subjects.metric('shop', 'orders', name);
  const synonyms = (origin: Origin, subject: string, words: readonly string[]) =>
    said(origin, claim(subject, 'synonyms', [...words]));
  const { orders } = compiled([
    ...shop,
    claim(metric('revenue'), 'metric', { agg: 'count' }),
    synonyms('code', metric('revenue'), ['Net Sales', 'Turnover']),
    claim(metric('gross'), 'metric', { agg: 'count' }),
    synonyms('model', metric('gross'), ['net_sales', 'Revenue', 'Gross Sales', 'gross']),
    synonyms('code', field('orders', 'status'), ['State']),
    synonyms('model', field('orders', 'id'), ['state', 'Number', 'revenue']),
  ]);
  expect(orders?.metrics).toMatchObject([
    { name: 'gross', synonyms: ['Gross Sales', 'gross'] },
    { name: 'revenue', synonyms: ['Net Sales', 'Turnover'] },
  ]);
  expect(orders?.fields?.find(({ name }) => name === 'id')?.synonyms).toEqual([
    'Number',
    'revenue',
  ]);
});

it('a metric may have the name of a field', () => {
  const metric = subjects.metric('shop', 'orders', 'id');
  const { orders, quarantined } = compiled([
    ...shop,
    claim(metric, 'metric', { agg: 'sum', of: 'id' }),
    claim(metric, 'description', 'All ids.'),
  ]);
  expect(quarantined).toEqual([]);
  expect(orders?.metrics).toMatchObject([{ name: 'id', agg: 'sum', description: 'All ids.' }]);
  expect(orders?.fields?.map(({ name }) => name)).toContain('id');
});

describe('compile', () => {
  it('makes a dataset of what is known of a table', () => {
    const source = { catalog: 'my.db', schema: 'main', table: 'orders' };
    const { orders, artifacts, quarantined } = compiled([
      ...shop.filter(({ subject }) => subject !== dataset('orders')),
      claim(dataset('orders'), 'dataset', { source, kind: 'table' }),
      claim(field('orders', 'unit_price'), 'field', { column: 'Unit "Price"', position: 3 }),
      claim(field('orders', 'status'), 'type', 'string'),
      claim(field('orders', 'status'), 'values', ['paid', 'open']),
      claim(dataset('orders'), 'primary_key', ['id']),
      claim(dataset('orders'), 'unique_key', ['id']),
      claim(dataset('orders'), 'unique_key', ['status', 'buyer_id']),
      said('code', claim(subjects.metric('shop', 'orders', 'count'), 'metric', { agg: 'count' })),
      link(
        'orders',
        { buyer_id: 'id' },
        { to: 'customers', role: 'buyer', cardinality: 'many_to_one' },
      ),
    ]);
    expect(quarantined).toEqual([]);
    expect(artifacts.map((one) => one.dataset)).toEqual(['customers', 'orders']);
    expect(orders).toEqual({
      dataset: 'orders',
      source: '"my.db".main.orders',
      primary_key: ['id'],
      unique_keys: [['status', 'buyer_id']],
      fields: [
        { name: 'id' },
        { name: 'buyer_id' },
        { name: 'gift_to_id' },
        { name: 'unit_price', expr: '"Unit ""Price"""' },
        { name: 'status', type: 'string', values: ['paid', 'open'] },
      ],
      metrics: [{ name: 'count', agg: 'count' }],
      relationships: [{ to: 'customers', on: { buyer_id: 'id' }, role: 'buyer' }],
    });
    expect(Object.keys(orders ?? {})).toEqual([
      'dataset',
      'source',
      'primary_key',
      'unique_keys',
      'fields',
      'metrics',
      'relationships',
    ]);
  });

  it('gives every relationship a name of its own', () => {
    const names = (claims: readonly Claim[]) =>
      compiled([...shop, ...claims]).orders?.relationships?.map(({ to, role }) => role ?? to);
    const buyer = link('orders', { buyer_id: 'id' }, { to: 'customers' });
    const gift = link('orders', { gift_to_id: 'id' }, { to: 'customers' });
    expect(names([buyer])).toEqual(['customers']);
    expect(names([buyer, gift])).toEqual(['buyer_id', 'gift_to_id']);
    const same = names([
      link('orders', { buyer_id: 'id' }, { to: 'customers', role: 'who' }),
      link('orders', { gift_to_id: 'id' }, { to: 'customers', role: 'who' }),
    ]);
    expect(new Set(same).size).toBe(2);
    const layers = ['raw_customers', 'dim_customers'].flatMap((name) => table(name, ['id']));
    const toCopies = names([
      ...layers,
      link('orders', { buyer_id: 'id' }, { to: 'raw_customers' }),
      link('orders', { gift_to_id: 'id' }, { to: 'dim_customers' }),
    ]);
    expect(toCopies).toEqual(['buyer_id', 'gift_to_id']);
  });

  it('keeps the order of the columns of a key that has several', () => {
    const subject = subjects.relationship('shop', 'orders', ['status', 'buyer_id']);
    const body = { to: 'customers', on: { buyer_id: 'id', status: 'name' } };
    const { orders } = compiled([...shop, claim(subject, 'relationship', body)]);
    expect(Object.keys(orders?.relationships?.[0]?.on ?? {})).toEqual(['status', 'buyer_id']);
  });

  it('quarantines a claim whose identifiers do not exist or whose body is not of its kind; the rest goes on', () => {
    const wrong = [
      claim(dataset('orders'), 'primary_key', ['number']),
      claim(dataset('nowhere'), 'description', 'x'),
      claim(field('orders', 'nothing'), 'type', 'string'),
      claim(field('orders', 'status'), 'type', 'text'),
      claim(field('orders', 'status'), 'primary_key', ['id']),
      claim(subjects.metric('shop', 'orders', 'total'), 'metric', { agg: 'add', of: 'status' }),
      claim('term:revenue', 'description', 'x'),
      link('orders', { buyer_id: 'id' }, { to: 'people' }),
      link('orders', { buyer_id: 'number' }, { to: 'customers' }),
    ];
    const { orders, quarantined } = compiled([
      ...shop,
      ...wrong,
      claim(dataset('orders'), 'default_time', 'id'),
    ]);
    expect(quarantined).toHaveLength(wrong.length);
    for (const { reason } of quarantined) expect(reason).not.toBe('');
    expect(
      quarantined.find(
        (one) => one.claim.kind === 'primary_key' && one.claim.subject === dataset('orders'),
      )?.reason,
    ).toContain('orders.number');
    expect(orders).toEqual({ ...compiled(shop).orders, default_time: 'id' });
  });

  it('drops what refers to a dataset that a person deleted, without a complaint', () => {
    const deleted = new Set([dataset('customers')]);
    const result = compiled(
      [...shop, link('orders', { buyer_id: 'id' }, { to: 'customers' })],
      deleted,
    );
    expect(result.artifacts.map((one) => one.dataset)).toEqual(['orders']);
    expect(result.orders?.relationships).toBeUndefined();
    expect(result.quarantined).toEqual([]);
  });

  it('puts fields that are expressions after the columns, by name', () => {
    const { orders, quarantined } = compiled([
      ...shop,
      said('code', claim(field('orders', 'is_late'), 'field', { expr: 'status = 1' })),
      said('code', claim(field('orders', 'a_gift'), 'field', { expr: 'gift_to_id is not null' })),
    ]);
    expect(quarantined).toEqual([]);
    expect(orders?.fields?.slice(3)).toEqual([
      { name: 'status' },
      { name: 'a_gift', expr: 'gift_to_id is not null' },
      { name: 'is_late', expr: 'status = 1' },
    ]);
  });
});

describe('claims that disagree', () => {
  const status = field('orders', 'status');
  const types = [
    said('model', claim(status, 'type', 'integer')),
    said('code', claim(status, 'type', 'string')),
  ] as const;

  it('show the better origin, and every variant keeps its rank', () => {
    const { orders } = compiled([...shop, ...types]);
    expect(orders?.fields?.find(({ name }) => name === 'status')?.type).toBe('string');
    expect(rankClaims(types)).toMatchObject({
      shown: [{ body: 'string' }],
      ranked: [{ body: 'string' }, { body: 'integer' }],
    });
  });

  it('are settled by what a person says', () => {
    const { orders } = compiled([
      ...shop,
      ...types,
      said('person', claim(status, 'type', 'boolean')),
    ]);
    expect(orders?.fields?.find(({ name }) => name === 'status')?.type).toBe('boolean');
  });

  it('are settled by what a person says, also against a pin', () => {
    const [model, code] = types;
    const person = said('person', claim(status, 'type', 'boolean'));
    const seen = [shortId(model), shortId(code)];
    const pin = { subject: status, kind: 'type', choose: shortId(model), seen };
    const { ranked } = rankClaims([code, model, person], { pin });
    expect(ranked.map(({ body }) => body)).toEqual(['boolean', 'integer', 'string']);
  });

  it('are ranked only, where they describe', () => {
    const told = (['model', 'code', 'catalog'] as const).map((origin) =>
      said(origin, claim(status, 'description', `by ${origin}`)),
    );
    const { orders } = compiled([...shop, ...told]);
    expect(orders?.fields?.find(({ name }) => name === 'status')?.description).toBe('by catalog');
  });

  it('do not disagree where a declaration stands beside what was found', () => {
    const { orders } = compiled([
      ...shop,
      claim(dataset('orders'), 'primary_key', ['id']),
      said('code', claim(dataset('orders'), 'primary_key', ['status'])),
      {
        ...link('orders', { buyer_id: 'id' }, { to: 'customers' }),
        evidence: [because('catalog'), because('code', 0.5)],
      },
      link('orders', { buyer_id: 'id' }, { to: 'orders' }),
    ]);
    expect(orders?.primary_key).toEqual(['id']);
    expect(orders?.relationships?.map(({ to }) => to)).toEqual(['customers']);
  });

  it('to a staging table and to the mart built on it do not contradict each other; the join within the layer is used', () => {
    const names = ['orders', 'customers', 'stg_customers', 'stg_orders', 'accounts'];
    const tables = names.flatMap((name) => table(name, ['id', 'customer_id']));
    const join = (from: string, to: string): Claim => ({
      subject: subjects.relationship('shop', from, ['customer_id']),
      kind: 'relationship',
      body: { to, on: { customer_id: 'id' } },
      evidence: [{ ...because('code', 1), connection: 'dbt' }],
    });
    const both = [join('orders', 'stg_customers'), join('orders', 'customers')];
    const staged = [join('stg_orders', 'stg_customers'), join('stg_orders', 'customers')];
    const { artifacts, conflicts } = compileDatasets([...tables, ...both, ...staged]);
    const joined = artifacts.map((artifact) => [artifact.dataset, artifact.relationships?.[0]?.to]);
    expect(conflicts).toEqual([]);
    expect(Object.fromEntries(joined)).toMatchObject({
      orders: 'customers',
      stg_orders: 'stg_customers',
    });
    const other = compileDatasets([...tables, ...both, join('orders', 'accounts')]);
    expect(other.conflicts).toHaveLength(1);
  });

  it('are not contested where one was only measured in the warehouse and the other is said', () => {
    const measured = {
      ...claim(dataset('orders'), 'primary_key', ['id', 'status']),
      evidence: [because('code', 0.9)],
    };
    const declared = (confidence: number) => {
      const evidence = [{ ...because('code', confidence), connection: 'dbt' }];
      return { ...claim(dataset('orders'), 'primary_key', ['id']), evidence };
    };
    expect(compiled([...shop, measured, declared(1)]).conflicts).toEqual([]);
    expect(compiled([...shop, measured, declared(1)]).orders?.primary_key).toEqual(['id']);
    expect(compiled([...shop, measured, declared(0.9)]).conflicts).toHaveLength(1);
    const catalog = claim(dataset('orders'), 'primary_key', ['id', 'status']);
    expect(compiled([...shop, catalog, declared(1)]).conflicts).toHaveLength(1);
  });
});

describe('of claims that nothing else tells apart', () => {
  test.for([
    [0.5, 0.9],
    [0.9, 0.5],
  ])('the more certain one is shown (%d and %d)', ([first = 0, second = 0]) => {
    const says = (text: string, confidence: number) => ({
      ...claim(dataset('orders'), 'description', text),
      evidence: [because('code', confidence)],
    });
    const { orders } = compiled([...shop, says('first', first), says('second', second)]);
    expect(orders?.description).toBe(first > second ? 'first' : 'second');
  });
});

const universe: fc.Arbitrary<Claim> = fc
  .tuple(
    fc.constantFrom(
      ...['a', 'b', 'gone'].flatMap((name): [string, ClaimKind, Json][] => [
        [dataset(name), 'description', 'one'],
        [dataset(name), 'description', 'two'],
        [dataset(name), 'primary_key', ['x', 'y']],
        [dataset(name), 'primary_key', ['y']],
        [dataset(name), 'unique_key', ['y']],
        [dataset(name), 'unique_key', ['z']],
        [dataset(name), 'default_time', 'x'],
        [field(name, 'x'), 'type', 'integer'],
        [field(name, 'x'), 'type', 'string'],
        [field(name, 'x'), 'field', { position: 9, column: 'X x' }],
        [field(name, 'z'), 'field', { column: 'z', position: 1 }],
        [subjects.metric('shop', name, 'm'), 'metric', { of: 'x', agg: 'sum' }],
        [
          subjects.metric('shop', name, 'm'),
          'metric',
          { expr: { sqlite: 'sum(x)', default: 'sum(y)' } },
        ],
        ...['a', 'b', 'gone'].flatMap((to): [string, ClaimKind, Json][] => [
          [subjects.relationship('shop', name, ['x']), 'relationship', { to, on: { x: 'x' } }],
          [
            subjects.relationship('shop', name, ['y', 'x']),
            'relationship',
            { on: { y: 'y', x: 'x' }, to, role: 'r' },
          ],
        ]),
      ]),
    ),
    fc.uniqueArray(
      fc.tuple(
        fc.constantFrom<Origin>('catalog', 'code', 'model', 'person'),
        fc.constantFrom(0.5, 1),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([[subject, kind, body], told]) => ({
    subject,
    kind,
    body,
    evidence: told.map(([origin, confidence]) => because(origin, confidence)),
  }));

describe('for any claims', () => {
  it('neither their order nor how their evidence comes in changes a byte, and every artifact is valid', () => {
    const base = [...table('a', ['x', 'y']), ...table('b', ['x', 'y'])];
    const shuffled = fc.array(universe, { minLength: 20, maxLength: 60 }).chain((claims) => {
      const apart = [...base, ...claims].flatMap((one) =>
        one.evidence.map((evidence) => ({ ...one, evidence: [evidence] })),
      );
      return fc.tuple(fc.constant(claims), fc.shuffledSubarray(apart, { minLength: apart.length }));
    });
    let contested = 0;
    fc.assert(
      fc.property(shuffled, ([claims, other]) => {
        const expected = compileDatasets([...base, ...claims]);
        const actual = compileDatasets(
          other.map((one) => JSON.parse(JSON.stringify(one)) as Claim),
        );
        expect(JSON.stringify(actual.artifacts)).toBe(JSON.stringify(expected.artifacts));
        expect(actual).toEqual(expected);
        for (const value of expected.artifacts) expect(datasetSchema.parse(value)).toEqual(value);
        contested += [
          ...Map.groupBy(claims, ({ subject, kind }) => subject + kind).values(),
        ].filter((group) => group.length > 1).length;
      }),
    );
    expect(contested).toBeGreaterThan(0);
  });
});
