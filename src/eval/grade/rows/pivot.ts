import { plainName } from './column-name.ts';
import type { ResultTable } from './result-table.ts';

/**
 * The rows of `wide` with one row for each cell, if some of its columns are named after the values
 * of a column of `long`; none if they are not. Cells without a value are no rows; cells of zero are
 * none in the second table, since a count of nothing is no group.
 */
export function unpivoted(wide: ResultTable, long: ResultTable): readonly ResultTable[] {
  for (const [index, { name }] of long.columns.entries()) {
    const values = [...new Set(long.rows.map((row) => row[index]))];
    const columns = values.length < 2 ? undefined : columnsNamedAfter(values, wide);
    if (columns === undefined) continue;
    const spread = values.map((value, at) => ({ value, column: columns[at] ?? 0 }));
    const kept = [...wide.columns.keys()].filter((column) => !columns.includes(column));
    const type = wide.columns[columns[0] ?? 0]?.type;
    const heads = [
      ...kept.flatMap((column) => wide.columns[column] ?? []),
      { name, type: long.columns[index]?.type },
      { name: 'value of the pivot', type },
    ];
    const isEmpty = (cell: unknown) => cell === null || cell === undefined;
    const isNothing = (cell: unknown) => isEmpty(cell) || Number(cell) === 0;
    return [isEmpty, isNothing].map((isLeftOut) => ({
      columns: heads,
      rows: wide.rows.flatMap((row) =>
        spread
          .filter(({ column }) => !isLeftOut(row[column]))
          .map(({ value, column }) => [...kept.map((key) => row[key]), value, row[column]]),
      ),
    }));
  }
  return [];
}

/**
 * The columns with the names of the values, or with names that have the same words around them
 * (`n_2024` and `n_2025`), in the order of the values; undefined if one has none.
 */
function columnsNamedAfter(
  values: readonly unknown[],
  { columns }: ResultTable,
): readonly number[] | undefined {
  const names = columns.map(({ name }) => ` ${plainName(name)} `);
  const parts = values.map((value) => ` ${plainName(value)} `);
  const frames = names.flatMap((name) => {
    const at = parts[0] === undefined ? -1 : name.indexOf(parts[0]);
    return at < 0 ? [] : [[name.slice(0, at), name.slice(at + (parts[0] ?? '').length)] as const];
  });
  const found = frames
    .toSorted((a, b) => a.join('').length - b.join('').length)
    .map(([before, behind]) => parts.map((part) => names.indexOf(`${before}${part}${behind}`)))
    .find((places) => !places.includes(-1));
  return found;
}
