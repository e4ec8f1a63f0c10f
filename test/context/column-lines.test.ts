import {
  array,
  assert,
  boolean,
  constantFrom,
  dictionary,
  integer,
  option,
  property,
  record,
  string,
} from 'fast-check';
import { expect, test } from 'vitest';
import { subjects, type Claim, type Evidence } from '../../src/context/claims/claim.ts';
import { parseClaims, renderClaims, uniteClaims } from '../../src/context/claims/claims-file.ts';
import { uniteHashes, type ContentHash } from '../../src/context/merge/merge-base.ts';
import { hashValue } from '../../src/context/merge/yaml-values.ts';
import { fieldTypes } from '../../src/sql/field-type.ts';

const path = 'claims/shop/orders.jsonl';
const structure: Evidence = {
  connection: 'shop',
  origin: 'catalog',
  extractor: 'structure@1',
  item: 'sources/shop/main.jsonl',
  location: 'orders',
  confidence: 1,
};
const table: Claim = {
  subject: subjects.dataset('shop', 'orders'),
  kind: 'dataset',
  body: { kind: 'table', source: { schema: 'main', table: 'orders' } },
  evidence: [structure],
};

interface ColumnClaims {
  readonly position: number;
  readonly type?: (typeof fieldTypes)[number];
  readonly description?: string;
}

function column(name: string, { position, type = 'decimal', description }: ColumnClaims): Claim[] {
  const subject = subjects.field('shop', 'orders', name);
  const evidence = [structure];
  return [
    { subject, kind: 'field', body: { column: name, position }, evidence },
    { subject, kind: 'type', body: type, evidence },
    ...(description === undefined
      ? []
      : [{ subject, kind: 'description' as const, body: description, evidence }]),
  ];
}

/** The base of the values that ktx left in the file of the dataset. */
const baseOf = (name: string, values: Readonly<Record<string, string>>) =>
  Object.entries({ name, ...values }).map(
    ([key, value]) => [`fields.${name}.${key}`, [hashValue(value)]] as const,
  );

const render = (claims: readonly Claim[], base: Parameters<typeof renderClaims>[0]['base']) =>
  renderClaims({ base, claims, damaged: [] }) ?? '';

test('a column of which only the catalog tells takes one line of its name, type and place', () => {
  const names = Array.from({ length: 50 }, (_, at) => `some_column_of_usual_length_${at}`);
  const claims = [table, ...names.flatMap((name, at) => column(name, { position: at + 1 }))];
  const base = new Map(names.flatMap((name) => baseOf(name, { type: 'decimal' })));
  const text = render(claims, base);
  expect(text.split('\n')).toContain('["some_column_of_usual_length_7","decimal",8]');
  expect(text.length / names.length).toBeLessThan(60);
  const read = parseClaims(path, text);
  expect(read).toMatchObject({ damaged: [], base });
  expect(read.claims).toEqual(uniteClaims(claims));
});

test('a comment of the warehouse is in the line of its column, once', () => {
  const comment = 'In euros, without tax.';
  const claims = [table, ...column('amount', { position: 1, description: comment })];
  const base = new Map(baseOf('amount', { type: 'decimal', description: comment }));
  const text = render(claims, base);
  expect(text.split(comment)).toHaveLength(2);
  expect(text).toContain(`["amount","decimal",1,{"description":"${comment}"}]`);
  expect(parseClaims(path, text)).toMatchObject({ base, claims: uniteClaims(claims) });

  // A person's words in the file: the base is not what the catalog says.
  const edited = new Map([...base, ['fields.amount.description', [hashValue('Of old.')]]]);
  expect(parseClaims(path, render(claims, edited))).toMatchObject({
    base: edited,
    claims: uniteClaims(claims),
  });
});

test('another column changes one line', () => {
  const names = ['a', 'c'];
  const base = new Map([...names, 'b'].flatMap((name) => baseOf(name, { type: 'decimal' })));
  const claims = [table, ...names.flatMap((name, at) => column(name, { position: at + 1 }))];
  const without = new Map([...base].filter(([key]) => !key.startsWith('fields.b.')));
  const before = render(claims, without).split('\n');
  const after = render([...claims, ...column('b', { position: 3 })], base).split('\n');
  expect(after.filter((line) => !before.includes(line))).toHaveLength(1);
  expect(before.filter((line) => !after.includes(line))).toEqual([]);
});

test('what any other evidence or base says is kept, and everything is read back', () => {
  const evidences = record({
    extractor: constantFrom('structure@1', 'dbt@1', 'count@1'),
    origin: constantFrom<Evidence['origin'][]>('catalog', 'code'),
    item: constantFrom('sources/shop/main.jsonl', 'sources/shop/other.jsonl'),
    location: constantFrom('orders', 'x'),
    confidence: constantFrom(1, 0.5),
  });
  const name = constantFrom('a', 'b"c', 'x y', 'ß', 'a.b', '');
  const hashes = array(option(constantFrom('3c', hashValue('decimal')), { nil: null }), {
    minLength: 1,
    maxLength: 2,
  });
  const bodies = record({
    at: integer(),
    type: constantFrom(...fieldTypes),
    column: option(string(), { nil: undefined }),
    description: option(string(), { nil: undefined }),
    isLeft: boolean(),
    hashes: option(hashes, { nil: undefined }),
  });
  assert(
    property(
      dictionary(name, bodies),
      array(evidences, { maxLength: 2 }),
      boolean(),
      (...given) => {
        const [columns, more, hasTable] = given;
        const others = more.map((item) => ({ connection: 'shop', ...item }));
        const claims = Object.entries(columns).flatMap(([own, { at, type, ...rest }]): Claim[] => {
          const subject = subjects.field('shop', 'orders', own);
          const evidence = [structure, ...others];
          const body = { column: rest.column ?? own, position: at };
          const { description } = rest;
          return [
            { subject, kind: 'field', body, evidence },
            { subject, kind: 'type', body: type, evidence: evidence.slice(0, 1) },
            ...(description === undefined
              ? []
              : [{ subject, kind: 'description' as const, body: description, evidence }]),
          ];
        });
        const base = new Map<string, readonly ContentHash[]>(
          Object.entries(columns).flatMap(([own, { type, description, isLeft, hashes: odd }]) => [
            ...(isLeft ? baseOf(own, { type, ...(description && { description }) }) : []),
            ...(odd === undefined ? [] : [[`fields.${own}.type`, uniteHashes(odd, [])] as const]),
          ]),
        );
        const all = hasTable ? [table, ...claims] : claims;
        const text = render(all, base);
        const read = parseClaims(path, text);
        expect(read.damaged).toEqual([]);
        expect(read.claims).toEqual(uniteClaims(uniteClaims(all)));
        expect(render(read.claims, read.base)).toBe(text);
        expect(Object.fromEntries(read.base)).toEqual(Object.fromEntries(base));
      },
    ),
  );
});

test('lines of two branches are united, and without the line of the table nothing is made up', () => {
  const base = new Map(baseOf('amount', { type: 'decimal' }));
  const ours = render([table, ...column('amount', { position: 1 })], base);
  const theirs = ours.replace('"decimal"', '"string"').replaceAll('main.jsonl', 'other.jsonl');
  const both = parseClaims(path, `${ours}${theirs}`);
  expect(both.base.get('fields.amount.type')?.toSorted()).toEqual(
    [hashValue('decimal'), hashValue('string')].sort(),
  );
  expect(new Set(both.claims.map(({ kind }) => kind))).toEqual(
    new Set(['dataset', 'field', 'type']),
  );
  const lines = ours.split('\n').filter((line) => !line.startsWith('{"table"'));
  const alone = parseClaims(path, lines.join('\n'));
  expect(alone).toMatchObject({ base, damaged: [] });
  expect(alone.claims).toMatchObject([{ kind: 'dataset', evidence: [{ connection: 'shop' }] }]);
});

test('lines as ktx wrote them before are read', () => {
  const line =
    '{"column":["shop","orders","amount"],"name":"Amount","at":2,"type":"decimal","in":["sources/shop/main.jsonl","orders"]}';
  const subject = subjects.field('shop', 'orders', 'amount');
  expect(parseClaims(path, line)).toEqual({
    base: new Map(),
    damaged: [],
    claims: [
      { subject, kind: 'field', body: { column: 'Amount', position: 2 }, evidence: [structure] },
      { subject, kind: 'type', body: 'decimal', evidence: [structure] },
    ],
  });
});

test.for([
  '{"column":["shop","orders"],"at":1}',
  '["amount","decimal"]',
  '{"field":["amount","number",1]}',
  '{"table":["shop"]}',
])('a damaged line is kept as it is: %s', (line) => {
  const read = parseClaims(path, line);
  expect(read.claims).toEqual([]);
  expect(read.damaged).toHaveLength(1);
  expect(renderClaims(read)).toBe(`${line}\n`);
});
