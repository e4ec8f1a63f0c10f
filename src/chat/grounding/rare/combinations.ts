import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { Derivable, NamedRows } from '../candidates.ts';
import { columnKinds, isLabel } from '../columns.ts';
import { columnTime, compareAll, comparisons, type Located, numberOf } from '../values.ts';

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

/** The numbers of each column of a result whose rows are measures: visits, orders, revenue. */
export function ofMeasures(evidence: readonly QueryEvidence[]): readonly (readonly Located[])[] {
  return evidence.flatMap((query) => {
    const name = query.columns[0]?.name ?? '';
    if (!measureName.test(name) || query.rows.length > mostNumbers) return [];
    return query.columns
      .slice(1)
      .map((column) =>
        query.rows.flatMap((_, row) =>
          locate(query, row).filter(({ cell }) => cell.column === column.name),
        ),
      );
  });
}

const measureName =
  /^(?:metric|measure|kpi|indicator|kennzahl|indicateur|indicador|indicatore|item|line|指標|指标)/i;

/**
 * The rows that a statement names, or the first and the last in rank, beside the mean of their
 * column: `the best month was 18 % above average`.
 */
export function besideMeans(
  evidence: readonly QueryEvidence[],
  { named }: Pick<NamedRows, 'named'>,
  said: string,
): readonly Derivable[] {
  return evidence.flatMap((query) => {
    const own = [...(named(query.id) ?? (rankWords.test(said) ? extremeRows(query) : []))];
    if (query.truncated || own.length > 3 || query.rows.length < 3) return [];
    const means = sumRows(query, [...query.rows.keys()]).map((sum): Located => {
      return { ...sum, value: sum.value / query.rows.length };
    });
    return own.flatMap((row) =>
      locate(query, row).flatMap((cell) => {
        const mean = means.find((known) => known.cell.column === cell.cell.column);
        return mean === undefined ? [] : comparisons(mean, cell);
      }),
    );
  });
}

/** `The other six days averaged 576`: the mean of all rows but the named ones. */
export function meansOfOthers(
  evidence: readonly QueryEvidence[],
  { named }: Pick<NamedRows, 'named'>,
): readonly Derivable[] {
  return evidence.flatMap((query) => {
    const own = named(query.id);
    const others = [...query.rows.keys()].filter((row) => own?.has(row) !== true);
    if (query.truncated || own === undefined || others.length < 2) return [];
    return sumRows(query, others).map(({ value, cell, kind }): Derivable => {
      const mean = value / others.length;
      return { value: mean, cells: [cell], derivation: 'mean of other rows', kind };
    });
  });
}

const rankWords =
  /(?<!\p{L})(?:best|worst|highest|lowest|strongest|weakest|peak|busiest|quietest|beste\p{L}*|schlechteste\p{L}*|höchste\p{L}*|niedrigste\p{L}*|stärkste\p{L}*|schwächste\p{L}*|meilleure?|pire|mejor|peor|migliore|peggiore|melhor|pior|slechtste)(?!\p{L})/iu;

/** The rows with the largest and the smallest number, of a result with one measure. */
function extremeRows(query: QueryEvidence): readonly number[] {
  const rows = query.rows.map((_, row) => locate(query, row));
  if (rows.some(({ length }) => length !== 1)) return [];
  const sorted = rows.flat().toSorted((a, b) => a.value - b.value);
  return [sorted[0], sorted.at(-1)].flatMap((located) => located?.row ?? []);
}

/** Promoters less detractors, in percent of all who answered. */
export function netScores(located: readonly Located[]): readonly Derivable[] {
  const whole = located.reduce((sum, { value }) => sum + value, 0);
  const [first, last] = [located[0], located.at(-1)];
  if (first === undefined || last === undefined || located.length < 3) return [];
  const value = ((first.value - last.value) / whole) * 100;
  return [
    { value, cells: located.map(({ cell }) => cell), derivation: '(a - b) / row', kind: 'unknown' },
  ];
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

export function locate(query: QueryEvidence, row: number): readonly Located[] {
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
    { cells, kind, value: a.value - b.value, derivation: '-(b - a)' },
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
  return [
    { value: whole, cells: located.map(({ cell }) => cell), derivation: 'row', kind: 'unknown' },
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

/** What of a row of one kind each number is: promoters of all who answered. */
export function partsOfRow(located: readonly Located[]): readonly Derivable[] {
  if (located.length < 3 || located.length > mostNumbers) return [];
  const whole = located.reduce((sum, { value }) => sum + value, 0);
  return located.map(({ value, cell }): Derivable => {
    return { value: value / whole, cells: [cell], derivation: 'a / row', kind: 'share' };
  });
}

/** The sums of numbers of a row that stand side by side: won, drawn and lost are all games. */
export function runsOfRow(located: readonly Located[]): readonly Derivable[] {
  if (located.length < 3 || located.length > mostNumbers) return [];
  return located.flatMap((first, from) =>
    located.slice(from + 1).flatMap((_, index): readonly Derivable[] => {
      const part = located.slice(from, from + index + 2);
      if (part.some(({ kind }) => kind !== first.kind) || first.kind === 'share') return [];
      const value = part.reduce((sum, own) => sum + own.value, 0);
      const cells = part.map(({ cell }) => cell);
      return [{ value, cells, derivation: 'row', kind: first.kind }];
    }),
  );
}

/** A part of two that are all: won deals of those which were won or lost. */
export function partsOfTwo(located: readonly Located[]): readonly Derivable[] {
  if (located.length > mostNumbers) return [];
  return pairs(located).flatMap(([a, b]) => {
    if (a.kind !== b.kind || a.kind === 'share') return [];
    const cells = [a.cell, b.cell];
    return [a, b].map(({ value }): Derivable => {
      const part = value / (a.value + b.value);
      return { cells, kind: 'share', value: part, derivation: 'a / (a + b)' };
    });
  });
}
