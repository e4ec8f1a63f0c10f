/** The rows with one combination of group values. */
export interface AggregateCell {
  /** The names of its groups, in the order of the columns; null for rows without a value. */
  readonly key: readonly (string | null)[];
  readonly rows: number;
  /** Of each measured column: how many rows have a value, and what their numbers add up to. */
  readonly measures: readonly Measured[];
}

export interface Measured {
  readonly present: number;
  readonly sum: number;
  /** Of the numbers without their signs. */
  readonly sumOfSizes: number;
  readonly greatestSize: number;
}

/** The fewest rows that a group may have. */
export const fewestRows = 5;

/**
 * Leaves out cells of fewer than five rows. If these are fewer than five rows together, the
 * smallest other cell goes too, so that no difference between a total and its parts is about fewer
 * than five rows.
 */
export function dropSmallCells(cells: readonly AggregateCell[]): {
  readonly kept: readonly AggregateCell[];
  readonly isCut: boolean;
} {
  const sorted = cells.toSorted((a, b) => a.rows - b.rows);
  const firstKept = sorted.findIndex(({ rows }) => rows >= fewestRows);
  const small = firstKept < 0 ? sorted : sorted.slice(0, firstKept);
  const dropped = small.reduce((sum, { rows }) => sum + rows, 0);
  const kept = sorted.slice(small.length + (dropped > 0 && dropped < fewestRows ? 1 : 0));
  return { kept, isCut: dropped > 0 };
}

/** One cell with the rows of all of them. */
export function uniteCells(
  key: AggregateCell['key'],
  cells: readonly AggregateCell[],
): AggregateCell {
  const [first] = cells;
  const uniteMeasures = (index: number): Measured => {
    const parts = cells.flatMap(({ measures }) => measures[index] ?? []);
    const add = (read: (part: Measured) => number) =>
      parts.reduce((sum, part) => sum + read(part), 0);
    return {
      present: add(({ present }) => present),
      sum: add(({ sum }) => sum),
      sumOfSizes: add(({ sumOfSizes }) => sumOfSizes),
      greatestSize: Math.max(...parts.map(({ greatestSize }) => greatestSize)),
    };
  };
  return {
    key,
    rows: cells.reduce((sum, { rows }) => sum + rows, 0),
    measures: (first?.measures ?? []).map((_, index) => uniteMeasures(index)),
  };
}

/** A number of rows or values, rounded to fives so that one row more or less rarely shows. */
export function discloseCount(count: number): number | string {
  return count < fewestRows ? `fewer than ${fewestRows}` : roundTo(count, fewestRows);
}

const withheld = 'withheld: too few rows decide it';

/**
 * A sum, rounded to a step that is at least as large as the largest number in it: no single row can
 * be told from it. Withheld if fewer than five rows have a number, or if it is less than five
 * steps: then a few rows decide it.
 */
export function discloseSum(measured: Measured): number | string {
  const { present, sum, sumOfSizes, greatestSize } = measured;
  if (present >= fewestRows && greatestSize === 0) return 0;
  const step = roundStepAbove(greatestSize);
  const isWithheld = present < fewestRows || sumOfSizes < fewestRows * step;
  return isWithheld ? withheld : roundTo(sum, step);
}

/** The average that follows from the rounded sum. */
export function discloseAverage(measured: Measured): number | string {
  const sum = discloseSum(measured);
  return typeof sum === 'string' ? sum : Number((sum / measured.present).toPrecision(2));
}

/** The smallest of 1, 2, 5, 10, 20… and of their decimal fractions that is not below the number. */
function roundStepAbove(size: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(size));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * magnitude >= size) ?? 10;
  return factor * magnitude;
}

function roundTo(value: number, step: number): number {
  // The multiple may have digits that only the step's binary fraction brings.
  return Number((Math.round(value / step) * step).toPrecision(12));
}
