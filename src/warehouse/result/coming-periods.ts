import type { Cell } from '../warehouse.ts';

interface AnswerColumn {
  readonly name: string;
  /** Set for the periods of a time. */
  readonly grain?: string | undefined;
}

/**
 * A comparison with a period before also has rows for periods after the last one with values: those
 * that have not come yet as if nothing had been left.
 */
export function warnOfComingPeriods(
  columns: readonly AnswerColumn[],
  rows: readonly (readonly Cell[])[],
): readonly string[] {
  const times = columns.flatMap(({ grain }, index) => (grain === undefined ? [] : [index]));
  const pairs = columns.flatMap(({ name }, before) => {
    const now = columns.findIndex((column) => `${column.name}.previous` === name);
    return now < 0 ? [] : [{ now, before }];
  });
  const [time, ...others] = times;
  if (time === undefined || others.length > 0 || pairs.length === 0) return [];
  const timed = rows.flatMap((row) => {
    const period = row[time];
    const isNow = pairs.some(({ now }) => hasValue(row[now]));
    const isBefore = pairs.some(({ before }) => hasValue(row[before]));
    return typeof period === 'string' ? [{ period, isNow, isBefore }] : [];
  });
  const last = latest(timed.filter(({ isNow }) => isNow));
  const coming = timed
    .filter(({ period, isNow, isBefore }) => !isNow && isBefore && period > (last ?? ''))
    .map(({ period }) => period)
    .sort();
  const [from, to] = [coming[0], coming.at(-1)];
  if (from === undefined || to === undefined) return [];
  const which = from === to ? from : `${from} to ${to}`;
  return [
    `${columns[time]?.name}: ${which} has values only of the period before. If it has not come yet, difference and growth there say nothing; a condition on the time leaves it out.`,
  ];
}

function latest(rows: readonly { readonly period: string }[]): string | undefined {
  return rows
    .map(({ period }) => period)
    .sort()
    .at(-1);
}

/** Numbers of large or exact types are texts. */
function hasValue(cell: Cell | undefined): boolean {
  return cell !== null && cell !== undefined && Number(cell) !== 0;
}
