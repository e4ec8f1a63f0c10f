import { assert, constantFrom, dictionary, property, record, string, integer } from 'fast-check';
import { expect, test } from 'vitest';
import { subjects, type Claim, type Evidence } from '../../src/context/claims/claim.ts';
import { parseClaims, renderClaims, uniteClaims } from '../../src/context/claims/claims-file.ts';
import { fieldTypes } from '../../src/sql/field-type.ts';

const structure: Evidence = {
  connection: 'shop',
  origin: 'catalog',
  extractor: 'structure@1',
  item: 'sources/shop/main.jsonl',
  location: 'orders',
  confidence: 1,
};

function column(name: string, position: number, evidence: Evidence = structure): Claim[] {
  const subject = subjects.field('shop', 'orders', name);
  return [
    { subject, kind: 'field', body: { column: name, position }, evidence: [evidence] },
    { subject, kind: 'type', body: 'decimal', evidence: [evidence] },
  ];
}

const render = (claims: readonly Claim[]) =>
  renderClaims({ base: new Map(), claims, damaged: [] }) ?? '';

test('a column that only the catalog tells of takes one short line', () => {
  const names = Array.from({ length: 50 }, (_, at) => `some_column_of_usual_length_${at}`);
  const claims = names.flatMap((name, at) => column(name, at + 1));
  const base = new Map(
    names.flatMap((name) =>
      ['name', 'type'].map((key) => [`fields.${name}.${key}`, ['0123abcd']] as const),
    ),
  );
  const text = renderClaims({ base, claims, damaged: [] }) ?? '';
  expect(text.split('\n').filter((line) => line.includes('"subject"'))).toEqual([]);
  expect(text.length / names.length).toBeLessThan(300);
  const read = parseClaims('claims/shop/orders.jsonl', text);
  expect(read).toMatchObject({ damaged: [], base });
  expect(read.claims).toEqual(uniteClaims(claims));
});

test('another column changes one line', () => {
  const before = render([...column('a', 1), ...column('c', 2)]).split('\n');
  const after = render([...column('a', 1), ...column('b', 3), ...column('c', 2)]).split('\n');
  expect(after.filter((line) => !before.includes(line))).toHaveLength(1);
});

test('what any other evidence says too is kept, and everything is read back', () => {
  const evidences = record({
    extractor: constantFrom('structure@1', 'dbt@1'),
    origin: constantFrom<Evidence['origin'][]>('catalog', 'code'),
    item: string(),
    location: string(),
    confidence: constantFrom(1, 0.5),
  });
  const name = constantFrom('a', 'b"c', 'x y', 'ß');
  const bodies = record({ at: integer(), type: constantFrom(...fieldTypes) });
  assert(
    property(dictionary(name, bodies), evidences, evidences, (columns, first, second) => {
      const claims = Object.entries(columns).flatMap(([own, { at, type }]) => {
        const subject = subjects.field('shop', 'orders', own);
        const evidence = [first, second].map((item) => ({ connection: 'shop', ...item }));
        return [
          { subject, kind: 'field' as const, body: { column: own, position: at }, evidence },
          { subject, kind: 'type' as const, body: type, evidence: evidence.slice(0, 1) },
        ];
      });
      const read = parseClaims('claims/shop/orders.jsonl', render(claims));
      expect(read.damaged).toEqual([]);
      expect(uniteClaims(read.claims)).toEqual(uniteClaims(uniteClaims(claims)));
      expect(render(read.claims)).toBe(render(claims));
    }),
  );
});

test('a damaged line is kept as it is', () => {
  const line = '{"column":["shop","orders"],"at":1}';
  const read = parseClaims('claims/shop/orders.jsonl', line);
  expect(read.claims).toEqual([]);
  expect(renderClaims(read)).toBe(`${line}\n`);
});
