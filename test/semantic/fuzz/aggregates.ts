import type { Aggregate, Question } from './question.ts';
import { cellOf, clockOf } from './rows.ts';
import { later } from './times.ts';
import type { Cell, Row, World } from './world.ts';

/** What an aggregate is of the rows of its group, whatever happened to them before. */
export function aggregate({ function: name }: Pick<Aggregate, 'function'>, rows: readonly Row[]): Cell {
  const values = rows.map(({ v = null }) => v).filter((value) => typeof value === 'number');
  const sum = values.reduce((total, value) => total + value, 0);
  switch (name) {
    case 'count_rows':
      return rows.length;
    case 'rows_in_a':
      return rows.filter(({ g }) => g === 'a').length;
    case 'count':
      return values.length;
    case 'count_distinct':
    case 'over_g':
      return new Set(values).size;
    case 'earlier':
    case 'overall':
    case 'running':
    case 'trailing':
    case 'to_date':
    case 'sum':
      return values.length === 0 ? null : sum;
    case 'closing':
    case 'followed':
    case 'follow_rate':
      throw new Error('needs more than the rows of its group');
    case 'each':
      return averageOfEach(rows);
    case 'avg':
      return values.length === 0 ? null : sum / values.length;
    case 'min':
      return values.length === 0 ? null : Math.min(...values);
    case 'max':
      return values.length === 0 ? null : Math.max(...values);
  }
  return name satisfies never;
}

function averageOfEach(rows: readonly Row[]): Cell {
  const totals = [...Map.groupBy(rows, ({ t = null }) => t)].flatMap(([time, own]) => {
    const total = time === null ? null : aggregate({ function: 'sum' }, own);
    return total === null ? [] : [Number(total)];
  });
  return totals.length === 0 ? null : totals.reduce((sum, total) => sum + total, 0) / totals.length;
}

/** The rows that no later one of the same `g`, in the same periods where these are asked for, comes after. */
export function lastOf(
  rows: readonly Row[],
  { all, times, question }: { all: readonly Row[]; times: readonly number[]; question: Question },
): readonly Row[] {
  const clock = clockOf(question);
  const periods = times.flatMap((index) => question.dimensions[index] ?? []);
  const entity = (row: Row): string => JSON.stringify([row['g'], ...periods.map((of) => cellOf(row, of, clock))]);
  const timed = all.filter(({ t }) => t !== null);
  return rows.filter(
    (row) => row['t'] !== null && !timed.some((other) => entity(other) === entity(row) && String(other['t']) > String(row['t'])),
  );
}

/** Of the rows of the next dataset, those whose last row before them, of the same `g` and in the window, is one of these. */
export function followers({ datasets }: World, owner: string, rows: readonly Row[]): number {
  const place = datasets.findIndex(({ name }) => name === owner);
  const base = datasets[place];
  const [own, next] = [base?.rows ?? [], datasets[place + 1]?.rows ?? base?.rows ?? []];
  const isBefore = (row: Row, event: Row): boolean => {
    const [start = null, end = null] = [row['t'], event['t']];
    if (typeof start !== 'string' || typeof end !== 'string' || start > end) return false;
    return base?.within === undefined || start > later(end, { ...base.within, count: -base.within.count });
  };
  return next.filter((event) => {
    const before = own.filter((row) => row !== event && row['g'] !== null && row['g'] === event['g'] && isBefore(row, event));
    const last = before.toSorted((a, b) => (a['t'] === b['t'] ? Number(b['id']) - Number(a['id']) : String(b['t']) > String(a['t']) ? 1 : -1))[0]; // prettier-ignore
    return last !== undefined && rows.includes(last);
  }).length;
}

export function calculated(op: '-' | '/', left: Cell, right: Cell): Cell {
  if (left === null || right === null) return null;
  if (op === '-') return Number(left) - Number(right);
  return right === 0 ? null : Number(left) / Number(right);
}
