/** A cell of a sheet, or of a line of text. */
export type GridCell = string | number | boolean | Date | null | undefined;
export type GridRow = readonly GridCell[];

/** A title stands at the top; what is further down is part of a table. */
const mostTitles = 10;

/**
 * How many of the first rows are titles, and no part of the table below them: each has one filled
 * cell, and the first row with more of them has names only. 0 where that is not clear. Empty rows
 * between them count.
 */
export function countTitleRows(rows: readonly GridRow[]): number {
  const start = rows.findIndex((row) => countFilled(row) > 1);
  const above = rows.slice(0, Math.max(0, start));
  const titles = above.filter((row) => countFilled(row) === 1);
  const isClear = titles.length > 0 && titles.length <= mostTitles;
  return isClear && looksLikeNames(rows[start] ?? []) ? start : 0;
}

export function countFilled(row: GridRow): number {
  return row.filter((cell) => !isEmpty(cell)).length;
}

export function isEmpty(cell: GridCell): boolean {
  return cell === null || cell === undefined || cell === '';
}

/** Different texts, none of which is a number or a date. */
function looksLikeNames(row: GridRow): boolean {
  const filled = row.filter((cell) => !isEmpty(cell));
  const isName = (cell: GridCell) =>
    typeof cell === 'string' && !/^\W*\d[\d\s.,:/-]*\W*$/.test(cell);
  return filled.every(isName) && new Set(filled).size === filled.length;
}
