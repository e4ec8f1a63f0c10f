import { sumsOfBands } from './sums/bands.ts';
import { sumsOfPeriods } from './sums/period-sums.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import {
  ofGroups,
  ofParts,
  ofProducts,
  ofSameNames,
  ofTogether,
  ofTotals,
  restOfCounts,
} from './across.ts';
import { type ColumnKind, columnKinds, isLabel } from './columns.ts';
import { bridgesOf } from './sums/row-sums.ts';
import { allPairs, columnTime, compareAll, comparisons, type Located, numberOf } from './values.ts';

/** A cell of a query result. */
export interface GroundingCell {
  /** Id of the query. */
  readonly query: string;
  /** From 0; undefined for the statement itself. */
  readonly row?: number | undefined;
  readonly column?: string | undefined;
}

/** A value that evidence has, or that code computes from it. */
export interface Derivable {
  readonly value: number;
  readonly cells: readonly GroundingCell[];
  /** How it follows from the cells, in the order of the cells; undefined for a cell itself. */
  readonly derivation?: string | undefined;
  /** A share or a growth is written in percent, an amount with a currency. */
  readonly kind: ColumnKind;
  /** The position of the column of a cell. */
  readonly column?: number | undefined;
  /** What a difference, a sum or a ratio is made of. */
  readonly operands?: readonly number[] | undefined;
}

/** The rows that a statement is about. */
export interface NamedRows {
  /** True if the number belongs to the row. */
  readonly isNear: (query: string, row: number) => boolean;
  /** True if the statement names the row; undefined if it names none of the query. */
  readonly named: (query: string) => ReadonlySet<number> | undefined;
  /** How many rows the answer has named so far. */
  readonly mentioned: (query: string) => number;
  /** What of a column the number may belong to; undefined if the statement names nothing of it. */
  /** Rows that the statement names in one breath: `satisfied or very satisfied`. */
  readonly together?: (query: string) => readonly ReadonlySet<number>[];
  readonly groups?: (query: string, column: number) => ReadonlySet<string> | undefined;
}

/** Every number of the rows. */
export function cellCandidates(
  evidence: readonly QueryEvidence[],
  isWanted: (query: string, row: number) => boolean,
): readonly Derivable[] {
  return evidence.flatMap((query) => {
    const kinds = columnKinds(query);
    return query.rows.flatMap((row, rowIndex) =>
      !isWanted(query.id, rowIndex)
        ? []
        : row.flatMap((cell, index): Derivable[] => {
            const value = numberOf(cell);
            const column = query.columns[index]?.name ?? '';
            if (value === undefined) return [];
            const kind = kinds[index] ?? 'unknown';
            const place = { query: query.id, row: rowIndex, column };
            return [{ value, cells: [place], kind, column: index }];
          }),
    );
  });
}

/** Rows of which all pairs are compared; of more, only neighbours and the ends. */
const mostPairs = 14;

/** What people compute from the numbers of a column, of a row, or of two results. */
export function derivedCandidates(
  evidence: readonly QueryEvidence[],
  rows: NamedRows,
): readonly Derivable[] {
  const ofTables = evidence.flatMap((query) => [
    ...rowCounts(query, rows),
    ...query.columns.flatMap((_, index) => ofColumn(query, index, rows.named(query.id))),
    ...ofTogether(query, rows.together?.(query.id) ?? []),
    ...ofRows(query, rows),
    ...ofGroups(query, rows),
    ...sumsOfPeriods(query),
    ...sumsOfBands(query),
  ]);
  return [
    ...ofTables,
    ...ofSingleValues(evidence),
    ...ofTotals(evidence),
    ...ofSameNames(evidence, rows),
    ...ofParts(evidence, rows),
    ...restOfCounts(evidence, rows),
  ];
}

/** A statement is about the columns of a few rows; of many, chance would explain any number. */
const mostRows = 40;

function ofRows(query: QueryEvidence, { isNear }: NamedRows): Derivable[] {
  const wanted = query.rows.flatMap((_, row) => (isNear(query.id, row) ? [row] : []));
  return wanted.length > mostRows
    ? []
    : wanted.flatMap((row) => [
        ...ofRow(query, row),
        ...ofProducts(query, row),
        ...daysBetween(query, row),
      ]);
}

function rowCounts({ id, rows, columns, truncated }: QueryEvidence, about: NamedRows): Derivable[] {
  if (truncated) return [];
  const cells = [{ query: id }];
  const named = about.named(id)?.size ?? 0;
  const distinct = columns.flatMap(({ name }, index): Derivable[] => {
    const values = new Set(rows.map((row) => String(row[index])));
    const isText = rows.some((row) => typeof row[index] === 'string');
    const place = [{ query: id, column: name }];
    return isText
      ? [{ value: values.size, cells: place, derivation: 'distinct', kind: 'count' }]
      : [];
  });
  const count = (value: number, derivation: string): Derivable[] =>
    value > 0 ? [{ value, cells, derivation, kind: 'count' }] : [];
  return [
    ...count(rows.length, 'count of rows'),
    ...(rows.length === 0
      ? [{ value: 0, cells, derivation: 'count of rows', kind: 'count' as const }]
      : []),
    // People also count what is beside the ones that they name: "the other four".
    ...count(rows.length - named, 'count of other rows'),
    ...count(rows.length - 1, 'count of other rows'),
    ...count(rows.length - about.mentioned(id), 'count of other rows'),
    ...count(named, 'count of named rows'),
    ...distinct,
  ];
}

function ofColumn(
  query: QueryEvidence,
  index: number,
  named: ReadonlySet<number> | undefined,
): Derivable[] {
  const { id, columns, rows, truncated } = query;
  const column = columns[index]?.name ?? '';
  const kind = columnKinds(query)[index] ?? 'unknown';
  if (isLabel(kind)) return [];
  const located = rows.flatMap((cells, row): Located[] => {
    const value = numberOf(cells[index]);
    const cell = { query: id, row, column };
    return value === undefined ? [] : [{ value, cell, row, kind, time: timeOfRow(query, row) }];
  });
  if (located.length < 2) return [];
  const whole = { query: id, column };
  const sum = located.reduce((total, { value }) => total + value, 0);
  const pairs = pairsOf(located, named).flatMap(([a, b]) => comparisons(a, b));
  if (truncated) return pairs;
  const own = located.filter(({ row }) => named?.has(row) ?? true);
  const shares = own.map(({ value, cell }): Derivable => {
    return { value: value / sum, cells: [cell, whole], derivation: 'a / sum', kind: 'share' };
  });
  return [
    { value: sum, cells: [whole], derivation: 'sum', kind },
    ...restOfShares(sum, { cells: [whole], kind }),
    { value: sum / located.length, cells: [whole], derivation: 'mean', kind: meanKind(kind) },
    { value: medianOf(located), cells: [whole], derivation: 'median', kind: meanKind(kind) },
    ...meansOfWindows(located, { cells: [whole], kind: meanKind(kind) }),
    ...(kind === 'share' ? [] : partialSums(located, { sum, named, kind })),
    ...(kind === 'share' ? [] : shares),
    ...pairs,
  ];
}

/** `The last 4 weeks averaged 1,426`, and the four weeks before. */
function meansOfWindows(
  located: readonly Located[],
  { cells, kind }: Pick<Derivable, 'cells' | 'kind'>,
): Derivable[] {
  if (located.every(({ time }) => time === undefined)) return [];
  return [2, 3, 4, 5, 6, 7].flatMap((size) =>
    [located.slice(0, size), located.slice(-size), located.slice(-2 * size, -size)]
      .filter((part) => part.length === size && size < located.length)
      .map((part): Derivable => {
        const value = part.reduce((total, own) => total + own.value, 0) / size;
        return { value, cells, derivation: `mean of a window of ${size}`, kind };
      }),
  );
}

/** What is left of the whole when shares are shown. */
function restOfShares(
  sum: number,
  { cells, kind }: Pick<Derivable, 'cells' | 'kind'>,
): Derivable[] {
  const whole = sum > 0.2 && sum < 1 ? 1 : sum > 20 && sum < 100 ? 100 : undefined;
  return kind !== 'share' || whole === undefined
    ? []
    : [{ value: whole - sum, cells, derivation: 'sum of all but the shown', kind }];
}

function medianOf(located: readonly Located[]): number {
  const values = located.map(({ value }) => value).toSorted((a, b) => a - b);
  const [low, high] = [
    values[Math.floor((values.length - 1) / 2)],
    values[Math.floor(values.length / 2)],
  ];
  return ((low ?? 0) + (high ?? 0)) / 2;
}

/** The mean of counts has decimals. */
const meanKind = (kind: ColumnKind): ColumnKind => (kind === 'count' ? 'unknown' : kind);

interface PartialSums {
  readonly sum: number;
  readonly named: ReadonlySet<number> | undefined;
  readonly kind: ColumnKind;
}

/** The sums of the named rows and of the first ones, and what is left of the whole. */
function partialSums(located: readonly Located[], { sum, named, kind }: PartialSums): Derivable[] {
  const parts = Array.from(
    { length: Math.max(0, Math.min(10, located.length - 1)) },
    (_, index) => {
      return { rows: located.slice(0, index + 1), words: `the first ${index + 1}` };
    },
  );
  const ends = parts
    .slice(1)
    .map(({ rows }) => ({ rows: located.slice(-rows.length), words: `the last ${rows.length}` }));
  const own = located.filter(({ row }) => named?.has(row) === true);
  const isPart = own.length > 0 && own.length < located.length;
  const all = [...(isPart ? [{ rows: own, words: 'the named rows' }] : []), ...parts, ...ends];
  return all.flatMap(({ rows, words }) => {
    const part = rows.reduce((total, { value }) => total + value, 0);
    const cells = rows.slice(0, 10).map(({ cell }) => cell);
    const rest = { value: sum - part, cells, derivation: `sum of all but ${words}`, kind };
    const restShare = {
      value: 1 - part / sum,
      cells,
      derivation: `sum of all but ${words} / sum`,
      kind: 'share' as const,
    };
    if (rows.length < 2) return [rest, restShare];
    const share = { value: part / sum, cells, derivation: `sum of ${words} / sum` };
    return [
      { value: part, cells, derivation: `sum of ${words}`, kind },
      { ...share, kind: 'share' as const },
      rest,
      restShare,
    ];
  });
}

/**
 * Two named rows; a named row beside its neighbours and the ends; without names, neighbours and
 * ends.
 */
function pairsOf(
  located: readonly Located[],
  named: ReadonlySet<number> | undefined,
): readonly (readonly [Located, Located])[] {
  const own = located.filter(({ row }) => named?.has(row) === true);
  if (own.length >= 2 && own.length <= mostPairs)
    return [...allPairs(own), ...withRowBefore(located, own)];
  if (own.length === 0 && located.length <= 3) return allPairs(located);
  const [first, last] = [located[0], located.at(-1)];
  const neighbours = located.slice(1).flatMap((b, index) => {
    const a = located[index];
    return a === undefined ? [] : [[a, b] as const];
  });
  const ends = first === undefined || last === undefined ? [] : [[first, last] as const];
  if (own.length === 0) return located.length <= mostPairs ? [...neighbours, ...ends] : ends;
  const [only] = own;
  const toEnds = [first, last].flatMap((end) =>
    only === undefined || end === undefined || end === only ? [] : [[only, end] as const],
  );
  const isOwn = ([a, b]: readonly [Located, Located]) => own.includes(a) || own.includes(b);
  return [...neighbours.filter(isOwn), ...toEnds, ...besideInRank(located, only)];
}

/** The first of several named months beside the one before it. */
function withRowBefore(
  located: readonly Located[],
  own: readonly Located[],
): readonly (readonly [Located, Located])[] {
  return own.flatMap((last) => {
    const first = located[located.indexOf(last) - 1];
    const isTime = first?.time !== undefined && last.time !== undefined;
    return isTime && !own.includes(first) ? [[first, last] as const] : [];
  });
}

/** A number beside the next larger and the next smaller one: the second best week. */
function besideInRank(
  located: readonly Located[],
  only: Located | undefined,
): readonly (readonly [Located, Located])[] {
  if (only === undefined) return [];
  const ranked = located.toSorted((a, b) => b.value - a.value);
  const at = ranked.indexOf(only);
  return [ranked[at - 1], ranked[at + 1]].flatMap((next) =>
    next === undefined ? [] : [[only, next] as const],
  );
}

/** Two numbers of one row. */
function ofRow(query: QueryEvidence, row: number): Derivable[] {
  const { id, columns, rows } = query;
  const kinds = columnKinds(query);
  const located = columns.flatMap(({ name }, index): Located[] => {
    const value = numberOf(rows[row]?.[index]);
    const kind = kinds[index] ?? 'unknown';
    if (value === undefined || isLabel(kind)) return [];
    const cell = { query: id, row, column: name };
    return [{ value, cell, row, kind, time: columnTime(name) }];
  });
  if (located.length > 8) return [];
  return [...compareAll(located), ...bridgesOf(located)];
}

/** The days between two dates of a row. */
function daysBetween({ id, rows, columns }: QueryEvidence, row: number): Derivable[] {
  const dates = (rows[row] ?? []).flatMap((cell, index) => {
    const isDate = typeof cell === 'string' && /^\d{4}-\d\d-\d\d(?:$|[T ])/.test(cell);
    const place = { query: id, row, column: columns[index]?.name ?? '' };
    return isDate ? [{ day: Date.parse(cell.slice(0, 10)) / 86_400_000, place }] : [];
  });
  return dates.flatMap((a, index) =>
    dates.slice(index + 1).map((b): Derivable => {
      const value = Math.abs(b.day - a.day);
      return { value, cells: [a.place, b.place], derivation: 'days', kind: 'count' };
    }),
  );
}

/** Results of one row each, such as this year's and last year's. */
function ofSingleValues(evidence: readonly QueryEvidence[]): Derivable[] {
  const single = evidence.flatMap((query): Located[] => {
    const { id, columns, rows, sql = '' } = query;
    const [row] = rows;
    if (row === undefined || rows.length > 1) return [];
    const kinds = columnKinds(query);
    const time = timeOfRow(query, 0) ?? /\b(?:19|20|21)\d\d(?:-\d\d)?(?:-\d\d)?\b/.exec(sql)?.[0];
    return row.flatMap((cell, index): Located[] => {
      const value = numberOf(cell);
      const kind = kinds[index] ?? 'unknown';
      const place = { query: id, row: 0, column: columns[index]?.name ?? '' };
      return value === undefined || isLabel(kind)
        ? []
        : [{ value, cell: place, row: 0, kind, time }];
    });
  });
  if (single.length > 10) return [];
  return allPairs(single).flatMap(([a, b]) =>
    a.cell.query === b.cell.query ? [] : [...comparisons(a, b), ...converted(a, b)],
  );
}

/** An amount at a rate that another query gives. */
function converted(a: Located, b: Located): Derivable[] {
  const isRate = ({ cell }: Located) =>
    /rate|_per_|price|kurs|cours|tipo_|tasso/i.test(cell.column ?? '');
  if (isRate(a) === isRate(b)) return [];
  const cells = [a.cell, b.cell];
  return [{ value: a.value * b.value, cells, derivation: 'a * b', kind: 'unknown' }];
}

/** The year, date or quarter of a row; undefined if it has none. */
export function timeOfRow(query: QueryEvidence, row: number): string | undefined {
  const kinds = columnKinds(query);
  const cells = (query.rows[row] ?? []).filter(
    (cell, index) =>
      kinds[index] === 'year' ||
      (typeof cell === 'string' && /^\d{4}-(?:\d{2}|[QT]\d)/i.test(cell)),
  );
  return cells.length === 0 ? undefined : cells.map(String).join(' ');
}
