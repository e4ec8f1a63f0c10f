import {
  assert,
  boolean,
  constantFrom,
  integer,
  option,
  property,
  record,
  string,
  uniqueArray,
} from 'fast-check';
import { expect, test } from 'vitest';
import {
  subjects,
  type Claim,
  type ClaimKind,
  type Evidence,
} from '../../src/context/claims/claim.ts';
import { parseClaims, renderClaims, uniteClaims } from '../../src/context/claims/claims-file.ts';
import type { MergeBase } from '../../src/context/merge/merge-base.ts';
import { hashValue } from '../../src/context/merge/yaml-values.ts';
import { shortHash } from '../../src/lib/hash.ts';
import { canonicalJson } from '../../src/lib/json.ts';

const path = 'claims/shop/orders.jsonl';
const item = 'sources/models/models/schema.yml';
const catalog = { connection: 'shop', origin: 'catalog', extractor: 'structure@1' } as const;
const structure: Evidence = {
  ...catalog,
  item: 'sources/shop/main.jsonl',
  location: 'orders',
  confidence: 1,
};
const dbt: Evidence = {
  connection: 'models',
  origin: 'code',
  extractor: 'dbt@1',
  item,
  confidence: 1,
};
const table: Claim = {
  subject: subjects.dataset('shop', 'orders'),
  kind: 'dataset',
  body: { kind: 'table', source: { schema: 'main', table: 'orders' } },
  evidence: [structure],
};

function describedColumn(name: string, position: number): Claim[] {
  const subject = subjects.field('shop', 'orders', name);
  const body = `What the shop knows as ${name}.`;
  const place = { location: `line ${position * 3}`, quote: `description: ${body}` };
  return [
    { subject, kind: 'field', body: { column: name, position }, evidence: [structure] },
    { subject, kind: 'type', body: 'decimal', evidence: [structure] },
    { subject, kind: 'description', body, evidence: [{ ...dbt, ...place }] },
  ];
}

function baseOf(claims: readonly Claim[]): MergeBase {
  const pairs = claims.flatMap(({ subject, kind, body }): [string, [string]][] => {
    const name = subject.split('.').at(-1) ?? '';
    if (kind === 'dataset') return [];
    const [key, value] = kind === 'field' ? ['name', name] : [kind, body];
    return [[`fields.${name}.${key}`, [hashValue(value)]]];
  });
  return new Map(pairs);
}

const render = (claims: readonly Claim[], base: MergeBase = baseOf(claims)) =>
  renderClaims({ base, claims, damaged: [] }) ?? '';

test('a column that a source describes takes less than 200 bytes, and its item is named once', () => {
  const names = Array.from({ length: 40 }, (_, at) => `column_of_usual_length_${at}`);
  const claims = [table, ...names.flatMap((name, at) => describedColumn(name, at + 1))];
  const text = render(claims);
  expect(text.length / names.length).toBeLessThan(200);
  expect(text.split(item)).toHaveLength(2);
  expect(text).toContain('{"left":["column_of_usual_length_7","description","What the shop');
  expect(text).not.toContain('"base"');
  const read = parseClaims(path, text);
  expect(read).toMatchObject({ damaged: [], base: baseOf(claims) });
  expect(read.claims).toEqual(uniteClaims(claims));
});

test('another described column changes two lines: its own', () => {
  const [a, b] = [describedColumn('a', 1), describedColumn('b', 2)];
  const before = render([table, ...a]).split('\n');
  const after = render([table, ...a, ...b]).split('\n');
  expect(after.filter((line) => !before.includes(line))).toHaveLength(2);
  expect(before.filter((line) => !after.includes(line))).toEqual([]);
});

test('whatever the evidence, the words and the base say is read back', () => {
  const bodies = option(string(), { nil: 'What a customer pays.' });
  const facts = record({
    name: constantFrom('a', 'b_c', 'ß'),
    kind: constantFrom<ClaimKind[]>('description', 'type'),
    body: bodies,
    isLeft: boolean(),
    evidence: record({
      connection: constantFrom('models', 'shop'),
      origin: constantFrom<Evidence['origin'][]>('code', 'catalog', 'model', 'person'),
      extractor: constantFrom('dbt@1', 'structure@1'),
      item: option(constantFrom(item, 'sources/models/other.yml'), { nil: undefined }),
      location: option(string(), { nil: undefined }),
      quote: option(constantFrom('description: $', '"description":"$"', '$ and $', 'else'), {
        nil: undefined,
      }),
      owner: option(constantFrom('ann'), { nil: undefined }),
      dated: option(constantFrom('2025-11-25'), { nil: undefined }),
      measured: option(constantFrom({ orphans: 'none' }), { nil: undefined }),
      confidence: constantFrom(1, 0.5),
    }),
    position: integer({ min: 1, max: 9 }),
  });
  assert(
    property(uniqueArray(facts, { maxLength: 8 }), boolean(), (given, hasTable) => {
      const claims = given.map(({ name, kind, body, evidence: { quote, ...rest } }): Claim => {
        const words = quote?.replaceAll('$', () => body);
        const evidence = Object.fromEntries(
          Object.entries({ ...rest, quote: words }).filter(([, value]) => value !== undefined),
        ) as Evidence;
        const subject = subjects.field('shop', 'orders', name);
        return { subject, kind, body, evidence: [evidence] };
      });
      const base = baseOf(claims.filter((_, at) => given[at]?.isLeft === true));
      const all = hasTable ? [table, ...claims] : claims;
      const text = render(all, base);
      const read = parseClaims(path, text);
      expect(read.damaged).toEqual([]);
      expect(read.claims).toEqual(uniteClaims(uniteClaims(all)));
      expect(Object.fromEntries(read.base)).toEqual(Object.fromEntries(base));
      expect(render(read.claims, read.base)).toBe(text);
    }),
  );
});

test('a description that changed on two branches: both are what ktx left', () => {
  const ours = render([table, ...describedColumn('amount', 1)]);
  const theirs = ours.replaceAll('What the shop knows', 'What all know');
  const both = parseClaims(path, `${ours}${theirs}`);
  expect(both.base.get('fields.amount.description')).toHaveLength(2);
  expect(both.claims.filter(({ kind }) => kind === 'description')).toHaveLength(2);
});

test('without the line of the item nothing is made up, and the rest stays', () => {
  const text = render([table, ...describedColumn('amount', 1)]);
  const lines = text.split('\n').filter((line) => !line.startsWith('{"item"'));
  const read = parseClaims(path, lines.join('\n'));
  expect(read.damaged).toEqual([]);
  expect(read.claims.map(({ kind }) => kind)).toEqual(['dataset', 'field', 'type']);
  expect(read.base).toEqual(parseClaims(path, text).base);
});

test('lines of people and models say all of it', () => {
  const [, , description] = describedColumn('amount', 1);
  for (const origin of ['person', 'model'] as const) {
    const claim = { ...description, evidence: [{ ...dbt, origin }] } as Claim;
    const text = render([table, claim]);
    expect(text).toContain(`"evidence":${canonicalJson({ ...dbt, origin })}}`);
    expect(text).toContain('"body":"What the shop knows');
  }
});

function itemsOfOneHash(): readonly string[] {
  const seen = new Map<string, string>();
  let pair: readonly string[] = [];
  for (let at = 0; pair.length === 0; at += 1) {
    const key = `sources/models/${at}.yml`;
    const id = shortHash(canonicalJson([dbt.connection, dbt.extractor, key]), 6);
    const other = seen.get(id);
    if (other !== undefined) pair = [other, key];
    seen.set(id, key);
  }
  return pair;
}

test('two items of one hash keep what they say', () => {
  const claims = itemsOfOneHash().map((own, at): Claim => {
    const subject = subjects.field('shop', 'orders', `f${at}`);
    return { subject, kind: 'type', body: 'decimal', evidence: [{ ...dbt, item: own }] };
  });
  const read = parseClaims(path, render([table, ...claims], new Map()));
  expect(read.claims).toEqual(uniteClaims([table, ...claims]));
});

test('a line under the id of another item takes no claim over', () => {
  const text = render([table, ...describedColumn('amount', 1)]);
  const expected = parseClaims(path, text).claims;
  const line = text.split('\n').find((own) => own.startsWith('{"item"')) ?? '';
  const foreign = line.replace(item, 'sources/wiki/board.md');
  expect(foreign).not.toBe(line);
  for (const both of [`${text}${foreign}\n`, `${foreign}\n${text}`]) {
    const read = parseClaims(path, both);
    expect(read.claims).toEqual(expected);
    expect(read.damaged.map((own) => own.text)).toEqual([foreign]);
    expect(renderClaims(read)).toContain(foreign);
  }
});

test('of two items of one hash on two branches, neither is made up', () => {
  const [one = '', two = ''] = itemsOfOneHash();
  const lineOf = (own: string) => {
    const subject = subjects.field('shop', 'orders', 'amount');
    const evidence = [{ ...dbt, item: own }];
    return render([table, { subject, kind: 'type', body: 'decimal', evidence }], new Map());
  };
  const read = parseClaims(path, `${lineOf(one)}${lineOf(two)}`);
  expect(read.claims).toEqual([table]);
  expect(read.damaged).toEqual([]);
});

test.for(['{"item":["models"]}', '{"subject":"field:a.b.c","kind":"type","evidence":[]}'])(
  'a damaged line is kept as it is: %s',
  (line) => {
    const read = parseClaims(path, line);
    expect(read.claims).toEqual([]);
    expect(renderClaims(read)).toBe(`${line}\n`);
  },
);
