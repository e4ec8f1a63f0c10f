import { array, assert, constant, constantFrom, nat, oneof, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { nearest } from '../../src/lib/suggest.ts';

/** The table of edit distances, computed as its definition says. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i += 1)
    for (let j = 1; j <= b.length; j += 1)
      rows[i]?.splice(
        j,
        1,
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ),
      );
  return at(a.length, b.length);
}

function nearestByDefinition(name: string, candidates: readonly string[], limit: number) {
  const wanted = name.toLowerCase();
  return [...new Set(candidates)]
    .map((candidate) => {
      const folded = candidate.toLowerCase();
      const isStart = wanted.length >= 3 && folded.startsWith(wanted);
      return { candidate, distance: isStart ? 1 : distance(wanted, folded) };
    })
    .filter((other) => other.distance <= Math.max(2, Math.floor(wanted.length / 3)))
    .toSorted((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

const word = (maxLength: number) =>
  string({ unit: constantFrom('a', 'b', 'B', '_', '.', 'é', '語'), maxLength });

test('the nearest names are those of the definition, for short and for long names', () => {
  const names = oneof(word(8), word(70), constant('ab'.repeat(16)), constant('a'.repeat(33)));
  assert(
    property(names, array(names, { maxLength: 12 }), nat(4), (name, others, limit) => {
      // Most random names are far apart: some candidates are the name with one letter more or less.
      const candidates = [...others, `${name}b`, `a${name}`, name.slice(1), name.slice(0, -2)];
      expect(nearest(name, candidates, limit + 1)).toEqual(
        nearestByDefinition(name, candidates, limit + 1),
      );
    }),
    { numRuns: 2000 },
  );
});

test('a wrong name among 30,000 costs a small part of comparing it with each of them', () => {
  const names = Array.from(
    { length: 30_000 },
    (_, index) => `d${index % 10_000}.${['total', 'rows', 'average'][index % 3]}`,
  );
  const timeOf = (run: () => unknown) => {
    const started = performance.now();
    run();
    return performance.now() - started;
  };
  const all = timeOf(() => names.map((name) => distance('d12.totall', name)));
  const fastest = Math.min(
    ...Array.from({ length: 5 }, () => timeOf(() => nearest('d12.totall', names))),
  );
  expect(nearest('d12.totall', names)).toEqual(['d12.total', 'd1.total', 'd10.total']);
  expect(fastest).toBeLessThan(all / 10);
});

test('a long list gives the same for each name, also after it has grown', () => {
  const names = Array.from({ length: 600 }, (_, index) => `field_${index}`);
  for (const name of ['field_12x', 'FIELD_599', 'nothing', 'fied_7', ''])
    expect(nearest(name, names)).toEqual(nearestByDefinition(name, names, 3));
  names.push('nothin');
  expect(nearest('nothing', names)).toEqual(['nothin']);
});
