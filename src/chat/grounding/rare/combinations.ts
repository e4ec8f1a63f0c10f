import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { Derivable, NamedRows } from '../candidates.ts';
import { columnKinds, isLabel } from '../columns.ts';
import { columnTime, compareAll, type Located, numberOf } from '../values.ts';

/** Numbers of a row, beyond which any number could be computed from three of them. */
const mostNumbers = 6;

/** Rows that a statement can be about one by one. */
const mostRows = 12;

/** What two numbers of one row give; of each row that a statement is about. */
export function ofNamedRows(
  evidence: readonly QueryEvidence[],
  rows: Pick<NamedRows, 'isNear'>,
): readonly (readonly Located[])[] {
  return evidence.flatMap((query) => {
    const wanted = query.rows.flatMap((_, row) => (rows.isNear(query.id, row) ? [row] : []));
    return wanted.length > mostRows ? [] : wanted.map((row) => locate(query, row));
  });
}

/** The sums of the columns, over all rows and over the named ones, as if they were a row. */
export function ofSums(
  evidence: readonly QueryEvidence[],
  { named }: Pick<NamedRows, 'named'>,
): readonly (readonly Located[])[] {
  return evidence.flatMap((query) => {
    if (query.truncated || query.rows.length < 2) return [];
    const all = [...query.rows.keys()];
    const own = [...(named(query.id) ?? [])];
    const groups = own.length > 1 && own.length < all.length ? [all, own] : [all];
    return groups.map((group) => sumRows(query, group));
  });
}

function locate(query: QueryEvidence, row: number): readonly Located[] {
  const kinds = columnKinds(query);
  return query.columns.flatMap(({ name }, index): Located[] => {
    const value = numberOf(query.rows[row]?.[index]);
    const kind = kinds[index] ?? 'unknown';
    if (value === undefined || isLabel(kind)) return [];
    const time = columnTime(name);
    return [{ value, cell: { query: query.id, row, column: name }, row, kind, time }];
  });
}

function sumRows(query: QueryEvidence, rows: readonly number[]): readonly Located[] {
  const located = rows.map((row) => locate(query, row));
  return (located[0] ?? []).map((first): Located => {
    const { column } = first.cell;
    const value = located
      .flat()
      .filter(({ cell }) => cell.column === column)
      .reduce((sum, own) => sum + own.value, 0);
    return { ...first, value, cell: { query: query.id, column }, row: -1 };
  });
}

/** What two numbers give: each alone, their difference, ratio, growth, margin, mean and product. */
export function pairwise(located: readonly Located[]): readonly Derivable[] {
  if (located.length > mostNumbers) return [];
  return [
    ...singles(located),
    ...compareAll(located).filter(({ derivation }) => derivation !== 'a - b'),
    ...pairs(located).flatMap(([a, b]) => margins(a, b)),
  ];
}

export function singles(located: readonly Located[]): readonly Derivable[] {
  return located.map(({ value, cell, kind }): Derivable => {
    return { value, cells: [cell], derivation: cell.row === undefined ? 'sum' : 'a', kind };
  });
}

function margins(a: Located, b: Located): readonly Derivable[] {
  const cells = [a.cell, b.cell];
  const kind = a.kind === b.kind ? a.kind : ('unknown' as const);
  const share = { cells, kind: 'share' as const };
  return [
    { cells, kind, value: (a.value + b.value) / 2, derivation: '(a + b) / 2' },
    { cells, kind: 'unknown', value: a.value * b.value, derivation: 'a * b' },
    ...(kind === 'count' && a.kind !== b.kind
      ? []
      : [
          { ...share, value: (a.value - b.value) / a.value, derivation: '-(b - a) / a' },
          { ...share, value: (b.value - a.value) / b.value, derivation: '-(a - b) / b' },
        ]),
  ];
}

/** What three numbers give: `a / (b - c)`, `(a - b) / c`, `a / mean(b, c)`, sums of parts. */
export function triplewise(located: readonly Located[]): readonly Derivable[] {
  if (located.length < 3 || located.length > mostNumbers) return [];
  const whole = located.reduce((sum, { value }) => sum + value, 0);
  const parts = located.flatMap(({ value, cell }): readonly Derivable[] => [
    { value: value / whole, cells: [cell], derivation: 'a / row', kind: 'share' },
  ]);
  return [
    { value: whole, cells: located.map(({ cell }) => cell), derivation: 'row', kind: 'unknown' },
    ...parts,
    ...located.flatMap((c) =>
      pairs(located.filter((term) => term !== c)).flatMap(([a, b]) => ofThree(a, b, c)),
    ),
  ];
}

function ofThree(a: Located, b: Located, c: Located): readonly Derivable[] {
  const cells = [a.cell, b.cell, c.cell];
  const [sum, difference] = [a.value + b.value, a.value - b.value];
  return [
    { cells, kind: 'unknown', value: difference / c.value, derivation: '(a - b) / c' },
    { cells, kind: 'unknown', value: sum / c.value, derivation: '(a + b) / c' },
    { cells, kind: 'unknown', value: c.value / difference, derivation: 'c / (a - b)' },
    { cells, kind: 'unknown', value: c.value / sum, derivation: 'c / (a + b)' },
    { cells, kind: 'unknown', value: (c.value * 2) / sum, derivation: 'c / mean(a, b)' },
    { cells, kind: 'unknown', value: c.value - sum, derivation: 'c - a - b' },
    { cells, kind: 'unknown', value: a.value * b.value * c.value, derivation: 'a * b * c' },
    { cells, kind: 'unknown', value: c.value / (a.value * b.value), derivation: 'c / (a * b)' },
  ];
}

/** Amounts at prices: their sum over the rows, and the mean weighted by each column. */
export function weighted(evidence: readonly QueryEvidence[]): readonly Derivable[] {
  return evidence.flatMap((query) => {
    if (query.truncated || query.rows.length < 2) return [];
    const rows = query.rows.map((_, row) => locate(query, row));
    const [first = []] = rows;
    if (first.length < 2 || first.length > 4) return [];
    return pairs(first).flatMap(([a, b]): readonly Derivable[] => {
      const of = ({ cell }: Located) =>
        rows.map((own) => own.find((term) => term.cell.column === cell.column)?.value ?? 0);
      const [x, y] = [of(a), of(b)];
      const total = x.reduce((sum, value, index) => sum + value * (y[index] ?? 0), 0);
      const cells = [a, b].map(({ cell }) => ({ query: query.id, column: cell.column }));
      const sums = [x, y].map((values) => values.reduce((sum, value) => sum + value, 0));
      return [
        { cells, kind: 'unknown', value: total, derivation: 'sum of a * b' },
        ...sums.map((sum): Derivable => {
          return { cells, kind: 'unknown', value: total / sum, derivation: 'sum of a * b / sum' };
        }),
      ];
    });
  });
}

function pairs(located: readonly Located[]): readonly (readonly [Located, Located])[] {
  return located.flatMap((a, index) => located.slice(index + 1).map((b) => [a, b] as const));
}
