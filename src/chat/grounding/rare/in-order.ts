import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { GroundingCell } from '../candidates.ts';
import { columnKinds, isLabel } from '../columns.ts';
import { nearness } from '../fits.ts';
import { findMentions } from '../names/mentions.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';
import type { Statement } from '../statements.ts';
import { numberOf } from '../values.ts';

/** Fewer numbers could be in the order of some rows by chance. */
const fewest = 3;
const mostRows = 40;

/**
 * The cells of numbers that a statement lists in the order of the rows, one for each of at least
 * three rows, while it names none or one of them: `12, 15 and 19 in the three months`.
 */
export function cellsInOrder(
  statement: Statement,
  numbers: readonly WrittenNumber[],
  evidence: readonly QueryEvidence[],
): ReadonlyMap<WrittenNumber, GroundingCell> {
  const found = new Map<WrittenNumber, GroundingCell>();
  for (const query of evidence) {
    if (query.rows.length < fewest || query.rows.length > mostRows) continue;
    const names = findMentions(statement.text, [query]);
    // Beside several names, only a list of all rows is no coincidence.
    const isOfFew = new Set(names.map(({ start }) => start)).size < 2;
    const least = isOfFew ? fewest : query.rows.length;
    const kinds = columnKinds(query);
    query.columns.forEach(({ name }, column) => {
      if (isLabel(kinds[column])) return;
      // A percentage is no amount.
      const written = numbers.filter((own) => !own.isPercent || kinds[column] === 'share');
      const values = query.rows.map((row) => numberOf(row[column]));
      for (const run of runsOf(written, values, least))
        for (const { number, row } of run)
          found.set(number, { query: query.id, row, column: name });
    });
  }
  return found;
}

interface Bound {
  readonly number: WrittenNumber;
  readonly row: number;
}

/** Numbers of which each equals the row behind that of the number before. */
function runsOf(
  numbers: readonly WrittenNumber[],
  values: readonly (number | undefined)[],
  least: number,
): readonly (readonly Bound[])[] {
  const isRow = (number: WrittenNumber, row: number): boolean => {
    const value = values[row];
    const near = nearness(number, false);
    return value !== undefined && number.readings.some((reading) => near(value, reading));
  };
  const runs = numbers.flatMap((first, from) =>
    values.flatMap((_, start) => {
      if (!isRow(first, start)) return [];
      const run: Bound[] = [{ number: first, row: start }];
      for (const number of numbers.slice(from + 1)) {
        const row = start + run.length;
        if (isRow(number, row)) run.push({ number, row });
      }
      return run.length >= least ? [run] : [];
    }),
  );
  return runs;
}
