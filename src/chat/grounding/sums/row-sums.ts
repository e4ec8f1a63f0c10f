import type { Derivable } from '../candidates.ts';
import type { Located } from '../values.ts';

/** Signs of more columns would explain any number. */
const mostColumns = 6;

/**
 * What is left of the first number of a row when the others are added or taken away, and its share
 * of the first: an opening balance, what came, what went.
 */
export function bridgesOf(located: readonly Located[]): readonly Derivable[] {
  const [first, ...others] = located;
  if (first === undefined || others.length < 2 || located.length > mostColumns) return [];
  const isOneKind = others.every(({ kind }) => kind === first.kind || kind === 'unknown');
  if (!isOneKind || first.kind === 'share' || first.value === 0) return [];
  return others
    .reduce<readonly (readonly Located[])[]>(
      (sums, next) => [
        ...sums,
        ...sums.map((terms) => [...terms, next]),
        ...sums.map((terms) => [...terms, { ...next, value: -next.value }]),
      ],
      [[first]],
    )
    .filter(({ length }) => length > 2)
    .flatMap((terms): Derivable[] => {
      const value = terms.reduce((sum, term) => sum + term.value, 0);
      const cells = terms.map(({ cell }) => cell);
      return [
        { value, cells, derivation: 'sum of the row', kind: first.kind },
        { value: value / first.value, cells, derivation: 'sum of the row / a', kind: 'share' },
      ];
    });
}
