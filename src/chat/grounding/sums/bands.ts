import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { Derivable } from '../candidates.ts';
import { columnKinds, isLabel } from '../columns.ts';
import { numberOf } from '../values.ts';

/** Results of more rows are no bands. */
const mostBands = 12;

/** Words that cut a row of bands in two: `younger than 45`, `more than 60 days`, `4 or 5 stars`. */
export const bandWords =
  /(?<!\p{L})(?:under|over|above|below|than|or|at least|at most|up to|beyond|older|younger|plus|unter|über|als|oder|ab|bis|mindestens|höchstens|moins|plus|ou|et plus|menos|más|o|meno|più|minder|meer|of|mniej|więcej|lub|eller)(?!\p{L})|\d\+|以上|以下|未満|超/iu;

/**
 * The sums of the first and of the last rows where each row is a range, such as `18-29` and `60+`,
 * and their shares.
 */
export function sumsOfBands(query: QueryEvidence): readonly Derivable[] {
  const { id, columns, rows, truncated } = query;
  if (truncated || rows.length < 3 || rows.length > mostBands) return [];
  // The first column of them: counts may be in order, too.
  if (!areBands(rows.map((row) => row[0]))) return [];
  const kinds = columnKinds(query);
  return columns.flatMap(({ name }, index): Derivable[] => {
    const kind = kinds[index] ?? 'unknown';
    const values = rows.flatMap((row) => numberOf(row[index]) ?? []);
    if (isLabel(kind) || kind === 'share' || values.length < rows.length) return [];
    const whole = values.reduce((sum, value) => sum + value, 0);
    const cuts = values.slice(1).map((_, at) => at + 1);
    return cuts.flatMap((cut) =>
      [rows.slice(0, cut), rows.slice(cut)].flatMap((part, side): Derivable[] => {
        const from = side === 0 ? 0 : cut;
        const value = values.slice(from, from + part.length).reduce((sum, own) => sum + own, 0);
        const cells = part.map((_, at) => ({ query: id, row: from + at, column: name }));
        const share = { value: value / whole, derivation: 'sum of the bands / sum', cells };
        return [
          { value, cells, derivation: 'sum of the bands', kind },
          { ...share, kind: 'share' },
        ];
      }),
    );
  });
}

/** Stars and school grades. */
const isGrade = (cell: unknown): boolean =>
  typeof cell === 'number' && Number.isInteger(cell) && cell >= 0 && cell <= 10;

/** True where all rows but one begin with a number that rises or falls from row to row. */
function areBands(cells: readonly unknown[]): boolean {
  const starts = cells.map((cell) =>
    isGrade(cell) || (typeof cell === 'string' && !/^\d{4}-/.test(cell))
      ? Number(/^\D{0,8}?(\d+)/.exec(String(cell))?.[1] ?? Number.NaN)
      : Number.NaN,
  );
  const known = starts.filter((start) => !Number.isNaN(start));
  const isOrdered = [1, -1].some((sign) =>
    known.every((start, index) => index === 0 || (start - (known[index - 1] ?? 0)) * sign >= 0),
  );
  return known.length >= 3 && known.length >= cells.length - 1 && isOrdered;
}
