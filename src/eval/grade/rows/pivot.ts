import type { ResultTable } from './result-table.ts';

/**
 * The rows of `wide` with one row for each cell, if some of its columns are named after the values
 * of a column of `long`; undefined if none are. Cells without a value are no rows.
 */
export function unpivoted(wide: ResultTable, long: ResultTable): ResultTable | undefined {
  const names = new Map(wide.columns.map(({ name }, index) => [plainName(name), index]));
  for (const [index, { name }] of long.columns.entries()) {
    const values = [...new Set(long.rows.map((row) => row[index]))];
    const isNamed = values.every((value) => names.has(plainName(value)));
    if (values.length < 2 || !isNamed) continue;
    const spread = values.map((value) => ({ value, column: names.get(plainName(value)) ?? 0 }));
    const kept = [...wide.columns.keys()].filter(
      (column) => !spread.some((cell) => cell.column === column),
    );
    const [first] = spread;
    const type = wide.columns[first?.column ?? 0]?.type;
    return {
      columns: [
        ...kept.flatMap((column) => wide.columns[column] ?? []),
        { name, type: long.columns[index]?.type },
        { name: 'value of the pivot', type },
      ],
      rows: wide.rows.flatMap((row) =>
        spread
          .filter(({ column }) => row[column] !== null && row[column] !== undefined)
          .map(({ value, column }) => [...kept.map((key) => row[key]), value, row[column]]),
      ),
    };
  }
  return undefined;
}

/** `Order Total` and `order_total` are one name. */
function plainName(name: unknown): string {
  return String(name)
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')
    .trim();
}
