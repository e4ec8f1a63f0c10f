import { describe, expect, test } from 'vitest';
import { shortId, type Claim, type Evidence } from '../../src/context/claims/claim.ts';
import type { Pin } from '../../src/context/claims/pins.ts';
import { settleJoins } from '../../src/context/compile/joins-in-doubt.ts';

const scanned: Evidence = {
  connection: 'shop',
  origin: 'code',
  extractor: 'relationships@1',
  confidence: 0.9,
};
const readByModel: Evidence = {
  connection: 'handbook',
  origin: 'model',
  extractor: 'reading@1',
  confidence: 0.7,
};

function join(
  from: string,
  to: string,
  {
    kind = 'relationship',
    evidence = scanned,
  }: Partial<Pick<Claim, 'kind'>> & { evidence?: Evidence } = {},
): Claim {
  const column = `${to}_id`;
  const subject = `relationship:shop.${from}(${column})`;
  return { subject, kind, body: { to, on: { [column]: 'id' } }, evidence: [evidence] };
}

const used = (claims: readonly Claim[], pins: readonly Pin[] = []) =>
  settleJoins(claims, pins).claims.map(({ subject }) => subject.slice('relationship:shop.'.length));
const doubted = (claims: readonly Claim[], pins: readonly Pin[] = []) =>
  settleJoins(claims, pins).inDoubt.map(({ claim }) =>
    claim.subject.slice('relationship:shop.'.length),
  );

describe('a join that only a model read', () => {
  const found = [join('items', 'orders'), join('items', 'products')];

  test('is used where it connects what nothing else connects', () => {
    const read = join('orders', 'shops', { evidence: readByModel });
    expect(used([...found, read])).toContain('orders(shops_id)');
    expect(doubted([...found, read])).toEqual([]);
  });

  test('is not used where there is a path already, also a longer one: queries would become ambiguous', () => {
    const direct = join('orders', 'products', { evidence: readByModel });
    const second = {
      ...join('items', 'products', { evidence: readByModel }),
      subject: 'relationship:shop.items(id)',
    };
    expect(used([direct, ...found, second])).toEqual(['items(orders_id)', 'items(products_id)']);
    expect(doubted([direct, ...found, second])).toEqual(['items(id)', 'orders(products_id)']);
  });

  test('counts like any other once another source says the same', () => {
    const direct = join('orders', 'products', { evidence: readByModel });
    const both = { ...direct, evidence: [readByModel, { ...scanned, connection: 'dbt' }] };
    expect(used([...found, both])).toContain('orders(products_id)');
  });

  test('is the same in any order of the claims', () => {
    const read = ['a', 'b', 'c'].map((name) => join('orders', name, { evidence: readByModel }));
    const circle = [...read, join('a', 'b', { evidence: readByModel })];
    expect(used(circle).toSorted()).toEqual(used(circle.toReversed()).toSorted());
    expect(used(circle)).toHaveLength(3);
  });
});

describe('a join in doubt', () => {
  const doubt = join('orders', 'customers', { kind: 'possible_relationship' });
  const pin = (choose: string, seen: readonly string[]): Pin => ({
    subject: doubt.subject,
    kind: 'relationship',
    choose,
    seen: [...seen],
    ...(choose === 'none' ? {} : { says: doubt.body }),
  });

  test('is not used, until a person accepts it: then it stays, also when the scan no longer finds it', () => {
    expect([used([doubt]), doubted([doubt])]).toEqual([[], ['orders(customers_id)']]);
    const accepted = [pin(shortId(doubt), [shortId(doubt)])];
    for (const claims of [[doubt], []]) {
      expect(used(claims, accepted)).toEqual(['orders(customers_id)']);
      expect(doubted(claims, accepted)).toEqual([]);
      expect(settleJoins(claims, accepted).claims[0]?.evidence[0]?.origin).toBe('person');
    }
  });

  test('that a person rejects is gone, and so is one in use; a new one asks again', () => {
    const inUse = { ...doubt, kind: 'relationship' as const };
    const rejected = [pin('none', [shortId(doubt), shortId(inUse)])];
    expect(used([doubt, inUse], rejected)).toEqual([]);
    expect(doubted([doubt, inUse], rejected)).toEqual([]);
    const other = { ...doubt, body: { to: 'people', on: { customers_id: 'id' } } };
    expect(doubted([doubt, other], rejected)).toEqual(['orders(customers_id)']);
  });
});
