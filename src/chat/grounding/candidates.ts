import type { QueryEvidence } from '../../llm/port/tool-call.ts';

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
  /** True for a share or a growth, which people write in percent. */
  readonly isShare: boolean;
}

/** The rows that a statement is about; undefined for all. */
export type RowFilter = (query: string, row: number) => boolean;

export function numberOf(cell: unknown): number | undefined {
  if (typeof cell === 'number' || typeof cell === 'bigint') return Number(cell);
  if (typeof cell !== 'string' || !/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(cell)) return undefined;
  return Number(cell);
}

/** Every number of the rows. */
export function cellCandidates(
  evidence: readonly QueryEvidence[],
  isWanted: RowFilter,
): readonly Derivable[] {
  return evidence.flatMap(({ id, columns, rows }) =>
    rows.flatMap((row, rowIndex) =>
      !isWanted(id, rowIndex)
        ? []
        : row.flatMap((cell, index): Derivable[] => {
            const value = numberOf(cell);
            const column = columns[index]?.name ?? '';
            if (value === undefined) return [];
            const isShare = sharesName.test(column);
            return [{ value, cells: [{ query: id, row: rowIndex, column }], isShare }];
          }),
    ),
  );
}

const sharesName = /pct|percent|share|rate|ratio|growth|anteil|quote|margin|%/i;

/** Rows of which all pairs are compared; of more, only neighbours and the ends. */
const mostPairs = 14;

/** What people compute from the numbers of a column, of a row, or of two results. */
export function derivedCandidates(
  evidence: readonly QueryEvidence[],
  isWanted: RowFilter,
): readonly Derivable[] {
  const ofTables = evidence.flatMap((query) => [
    ...rowCounts(query),
    ...query.columns.flatMap((_, index) => ofColumn(query, index, isWanted)),
    ...ofRows(query, isWanted),
  ]);
  return [...ofTables, ...ofSingleValues(evidence)];
}

/** A statement is about the columns of a few rows; of many, chance would explain any number. */
const mostRows = 40;

function ofRows(query: QueryEvidence, isWanted: RowFilter): Derivable[] {
  const wanted = query.rows.flatMap((_, row) => (isWanted(query.id, row) ? [row] : []));
  return wanted.length > mostRows ? [] : wanted.flatMap((row) => ofRow(query, row));
}

function rowCounts({ id, rows, columns, truncated }: QueryEvidence): Derivable[] {
  if (truncated) return [];
  const cells = [{ query: id }];
  const distinct = columns.flatMap(({ name }, index): Derivable[] => {
    const values = new Set(rows.map((row) => String(row[index])));
    const isText = rows.some((row) => typeof row[index] === 'string');
    return isText
      ? [
          {
            value: values.size,
            cells: [{ query: id, column: name }],
            derivation: 'distinct',
            isShare: false,
          },
        ]
      : [];
  });
  // People also count what is beside the ones that they name: "the other four".
  const counts = Array.from({ length: 5 }, (_, named) => rows.length - named).filter(
    (count) => count > 0,
  );
  return [
    ...counts.map((value) => ({ value, cells, derivation: 'count of rows', isShare: false })),
    ...distinct,
  ];
}

interface Located {
  readonly value: number;
  readonly cell: GroundingCell;
  readonly isWanted: boolean;
}

function ofColumn(
  { id, columns, rows, truncated }: QueryEvidence,
  index: number,
  isWanted: RowFilter,
): Derivable[] {
  const column = columns[index]?.name ?? '';
  const located = rows.flatMap((row, rowIndex): Located[] => {
    const value = numberOf(row[index]);
    const cell = { query: id, row: rowIndex, column };
    return value === undefined ? [] : [{ value, cell, isWanted: isWanted(id, rowIndex) }];
  });
  if (located.length < 2) return [];
  const whole = { query: id, column };
  const sum = located.reduce((total, { value }) => total + value, 0);
  const found: Derivable[] = truncated
    ? []
    : [
        { value: sum, cells: [whole], derivation: 'sum', isShare: false },
        { value: sum / located.length, cells: [whole], derivation: 'mean', isShare: false },
        ...partialSums(located, sum),
      ];
  for (const { value, cell } of truncated ? [] : located.filter(({ isWanted: isMeant }) => isMeant))
    found.push({ value: value / sum, cells: [cell, whole], derivation: 'a / sum', isShare: true });
  for (const [a, b] of pairsOf(located)) found.push(...comparisons(a, b));
  return found;
}

/** The sums of the first rows, and of all others. */
function partialSums(located: readonly Located[], sum: number): Derivable[] {
  let total = 0;
  return located
    .slice(0, Math.max(0, Math.min(10, located.length - 2)))
    .flatMap(({ value, cell }, index) => {
      total += value;
      const cells = [located[0]?.cell ?? cell, cell];
      const derivation = `sum of the first ${index + 1}`;
      const rest = `sum of all but the first ${index + 1}`;
      return [
        ...(index === 0 ? [] : [{ value: total, cells, derivation, isShare: false }]),
        { value: sum - total, cells, derivation: rest, isShare: false },
        ...(index === 0
          ? []
          : [{ value: total / sum, cells, derivation: `${derivation} / sum`, isShare: true }]),
      ];
    });
}

function pairsOf(located: readonly Located[]): readonly (readonly [Located, Located])[] {
  const wanted = located.filter(({ isWanted }) => isWanted);
  const all = wanted.length >= 2 ? wanted : located;
  if (all.length <= mostPairs)
    return all.flatMap((a, index) => all.slice(index + 1).map((b) => [a, b] as const));
  const [first, last] = [all[0], all.at(-1)];
  const neighbours = all.slice(1).flatMap((b, index) => {
    const a = all[index];
    return a === undefined ? [] : [[a, b] as const];
  });
  return first === undefined || last === undefined ? [] : [...neighbours, [first, last]];
}

/** Difference, ratio and growth of two numbers, both ways round. */
function comparisons(
  { value: a, cell: ofA }: Pick<Located, 'value' | 'cell'>,
  { value: b, cell: ofB }: Pick<Located, 'value' | 'cell'>,
): Derivable[] {
  const cells = [ofA, ofB];
  const areShares = [ofA, ofB].every(({ column = '' }) => sharesName.test(column));
  const both: readonly (readonly [number, string, boolean])[] = [
    [a - b, 'a - b', areShares],
    [b - a, 'b - a', areShares],
    [a / b, 'a / b', true],
    [b / a, 'b / a', true],
    [(a - b) / b, '(a - b) / b', true],
    [(b - a) / a, '(b - a) / a', true],
    [a + b, 'a + b', false],
  ];
  return both.flatMap(([value, derivation, isShare]) =>
    Number.isFinite(value) ? [{ value, cells, derivation, isShare }] : [],
  );
}

/** Two numbers of one row. */
function ofRow({ id, columns, rows }: QueryEvidence, row: number): Derivable[] {
  const located = columns.flatMap(({ name }, index): Located[] => {
    const value = numberOf(rows[row]?.[index]);
    const cell = { query: id, row, column: name };
    return value === undefined ? [] : [{ value, cell, isWanted: true }];
  });
  if (located.length > 8) return [];
  return located.flatMap((a, first) => located.slice(first + 1).flatMap((b) => comparisons(a, b)));
}

/** Results of one row each, such as this year's and last year's. */
function ofSingleValues(evidence: readonly QueryEvidence[]): Derivable[] {
  const single = evidence.flatMap(({ id, columns, rows }): Located[] => {
    const [row] = rows;
    if (row === undefined || rows.length > 1) return [];
    return row.flatMap((cell, index): Located[] => {
      const value = numberOf(cell);
      const place = { query: id, row: 0, column: columns[index]?.name ?? '' };
      return value === undefined ? [] : [{ value, cell: place, isWanted: true }];
    });
  });
  if (single.length > 10) return [];
  return single.flatMap((a, first) =>
    single
      .slice(first + 1)
      .flatMap((b) => (a.cell.query === b.cell.query ? [] : comparisons(a, b))),
  );
}
