import { createHash } from 'node:crypto';
import { assert, integer, property, uniqueArray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detectValueKind } from '../../src/scan/profile/value-kinds.ts';
import { matchNames } from '../../src/scan/names/name-match.ts';
import { parseColumnName, parseTableName } from '../../src/scan/names/parse-name.ts';
import {
  maxCompared,
  estimateDistinct,
  sketchHashes,
  estimateContainment,
  largestHash,
  sketchSize,
} from '../../src/scan/profile/sketch.ts';

function sketchOf(values: Iterable<number | string>): string {
  const hashes = new Set(
    [...values].map((value) => createHash('md5').update(String(value)).digest('hex').slice(0, 12)),
  );
  return [...hashes].sort().slice(0, sketchSize).join('');
}

const shareOf = (child: string, parent: string) =>
  estimateContainment(
    sketchHashes(child, maxCompared),
    new Set(sketchHashes(parent)),
    largestHash(parent),
  );

describe('a sketch', () => {
  test('of a small column gives its exact distinct count and containment', () => {
    assert(
      property(
        uniqueArray(integer(), { maxLength: 100 }),
        uniqueArray(integer(), { maxLength: 100 }),
        (child, parent) => {
          const [own, other] = [sketchOf(child), sketchOf(parent)];
          expect(estimateDistinct(own)).toBe(child.length);
          const { share, compared } = shareOf(own, other);
          expect(compared).toBe(child.length);
          if (child.length > 0)
            expect(share).toBeCloseTo(
              child.filter((value) => parent.includes(value)).length / child.length,
            );
        },
      ),
    );
  });

  test('of a large column estimates both within a tenth', () => {
    const range = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => from + index);
    const [child, parent] = [sketchOf(range(0, 20_000)), sketchOf(range(5000, 40_000))];
    expect(Math.abs(estimateDistinct(parent) - 35_000)).toBeLessThan(3500);
    expect(Math.abs(shareOf(child, parent).share - 0.75)).toBeLessThan(0.1);
  });
});

describe('names', () => {
  const vocabulary = new Set(['order', 'customer', 'unit']);
  test.each([
    ['CustomerID', ['customer'], true],
    ['l_orderkey', ['l', 'order'], true],
    ['fkUnit', ['unit'], true],
    ['newcustomerid', ['new', 'customer'], true],
    ['Größe', ['grosse'], false],
    ['id', [], true],
    ['ShipVia', ['ship'], true],
  ])('%s is about %j', (name, entity, keyed) => {
    const parts = parseColumnName(name.replace('ß', 'ss'), vocabulary);
    expect([parts.entity, parts.keyed]).toEqual([entity, keyed]);
  });

  test.each([
    ['customer_id', 'customers', 'full', 1],
    ['cust_no', 'customers', 'full', 0.8],
    ['ship_address_id', 'addresses', 'tail', 1],
    ['dept_id', 'departments', 'full', 0.6],
    ['quantity', 'orders', 'full', 0],
  ] as const)('%s and the table %s match in %s by %d', (...[column, table, kind, value]) => {
    expect(
      matchNames(parseColumnName(column).entity, parseTableName(table).entity)[kind],
    ).toBeGreaterThanOrEqual(value);
  });
});

describe('what values look like', () => {
  test.each([
    [['1', '-2', '30'], 'n', 'integer'],
    [['4111 1111 1111 1111', '5500-0000-0000-0004'], 'c', 'card'],
    [['1234567890123', '9876543210987'], 'ean', 'integer'],
    [['a@b.de', 'c@d.org'], 'm', 'email'],
    [['0f8fad5b-d9cb-469f-a165-70867728950e'], 'u', 'uuid'],
    [['+49 30 123456', '(030) 123-4567'], 'p', 'phone'],
    [['Ada Lovelace', 'Alan Turing'], 'full_name', 'name'],
    [['DE', 'FR'], 'country', 'code'],
    [['the parcel came late again', 'all was well this time'], 'remark', 'text'],
    [[], 'x', 'empty'],
  ])('%j in %s is %s', (values, column, kind) => {
    expect(detectValueKind(values, column)).toBe(kind);
  });
});
