import { queryError } from '../../query/errors.ts';
import { type Expr, type ExprPart, quotient, wholeFrame } from '../../relational/query-tree.ts';
import type { RowComputation } from './read-stage.ts';
import type { Ordering, ResultRows } from './result-rows.ts';

export interface ComputedColumn {
  readonly name: string;
  readonly expr: Expr;
  readonly is: string;
}

/** A column over the rows of the result, as a window function. */
export function computeOverRows(rows: ResultRows, computation: RowComputation): ComputedColumn {
  const { name, compute, of, dir, per } = computation;
  const value = valueOf(rows, of);
  const within = (dimensions: readonly string[]) =>
    dimensions.length === 0 ? '' : `, for each ${dimensions.join(' and ')}`;
  switch (compute) {
    case 'rank': {
      const first = dir === 'desc' ? 'greatest' : 'smallest';
      return {
        name,
        expr: rankOf(rows, { of: value, dir, per: per ?? [] }),
        is:
          `the place of the row by ${of}, the ${first} first${within(per ?? [])}; ` +
          'equal values share a place',
      };
    }
    case 'average':
    case 'to_average': {
      const average = averageOf(rows, value, per ?? []);
      const is = `the average of ${of} over the rows of the result${within(per ?? [])}`;
      return compute === 'average'
        ? { name, expr: average, is: `${is}, each row counted once` }
        : { name, expr: quotient(value, average), is: `${of} divided by ${is}` };
    }
    case 'previous':
    case 'next':
    case 'running': {
      const sequence = sequenceOf(rows, computation);
      const order = `in the order of ${sequence.by}${within(sequence.per)}`;
      if (compute !== 'running') {
        const [call, place] = compute === 'previous' ? ['lag(', 'before'] : ['lead(', 'after'];
        return {
          name,
          expr: windowCall([call, ...asNullable(rows, value), ')'], rows, sequence),
          is: `${of} of the row ${place}, ${order}`,
        };
      }
      checkAddsUp(rows, of, sequence.per);
      const frame = ' ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW';
      return {
        name,
        expr: windowCall(['sum(', value, ')'], rows, { ...sequence, frame }),
        is: `the sum of ${of} over this row and those before it, ${order}`,
      };
    }
  }
  return compute satisfies never;
}

/** The rank of a value; NULL, which no value is greater or smaller than, has none. */
export function rankOf(
  rows: ResultRows,
  { of, dir, per }: { of: Expr; dir: 'asc' | 'desc'; per: readonly string[] },
): Expr {
  const rank = windowCall(['rank()'], rows, { per, order: [{ expr: of, dir }] });
  return { kind: 'call', parts: ['CASE WHEN ', of, ' IS NOT NULL THEN ', rank, ' END'] };
}

function asNullable({ dialect }: ResultRows, value: Expr): readonly ExprPart[] {
  return dialect.nullable === undefined ? [value] : [`${dialect.nullable}(`, value, ')'];
}

interface Window {
  readonly per: readonly string[];
  readonly order?: readonly Ordering[];
  readonly frame?: string;
}

function windowCall(
  call: readonly ExprPart[],
  rows: ResultRows,
  { per, order = [], frame = '' }: Window,
): Expr {
  const partition = separated(per.map((name) => dimensionOf(rows, name)));
  const ordering = separated(order.map(({ expr, dir }) => ({ kind: 'ordering', of: expr, dir })));
  const partitionBy = partition.length === 0 ? [] : ['PARTITION BY ', ...partition];
  const orderBy = ordering.length === 0 ? [] : ['ORDER BY ', ...ordering];
  const space = partitionBy.length > 0 && orderBy.length > 0 ? [' '] : [];
  return {
    kind: 'call',
    parts: [...call, ' OVER (', ...partitionBy, ...space, ...orderBy, frame, ')'],
  };
}

function separated(exprs: readonly Expr[]): readonly ExprPart[] {
  return exprs.flatMap((expr, index) => (index === 0 ? [expr] : [', ', expr]));
}

/** Real division, because some engines cut the average of whole numbers. */
function averageOf(rows: ResultRows, value: Expr, per: readonly string[]): Expr {
  const [first] = rows.dimensions.values();
  const isOrdered = rows.dialect.ordersWholeWindows === true && per.length === 0;
  const window: Window =
    isOrdered && first !== undefined
      ? { per, order: [{ expr: first, dir: 'asc' }], frame: wholeFrame }
      : { per };
  return quotient(
    windowCall(['sum(', value, ')'], rows, window),
    windowCall(['count(', value, ')'], rows, window),
  );
}

/** In which order rows follow each other: their periods, or what `order_by` says. */
function sequenceOf(
  rows: ResultRows,
  { compute, per }: RowComputation,
): Required<Pick<Window, 'per' | 'order'>> & { readonly by: string } {
  const names = [...rows.dimensions.keys()];
  const ties = (skipped: readonly string[]) =>
    names
      .filter((name) => !skipped.includes(name))
      .map((name) => ({ expr: dimensionOf(rows, name), dir: 'asc' as const }));
  if (rows.order !== undefined) {
    const given = per ?? [];
    return { per: given, order: [...rows.order, ...ties(given)], by: 'order_by' };
  }
  const { time } = rows;
  if (time === undefined)
    throw queryError('no_period', `The rows have no order, so ${compute} has no row to go by`, {
      hint: 'Add a period to the dimensions, like metric_time.month, or order_by.',
      choices: [],
    });
  const others = names.filter((name) => name !== time.name && !time.sameTime.includes(name));
  const within = per ?? others;
  const first = { expr: dimensionOf(rows, time.name), dir: 'asc' as const };
  return { per: within, order: [first, ...ties([time.name, ...within])], by: time.name };
}

/** Throws if rows of the result that are summed are no parts of a whole. */
function checkAddsUp(rows: ResultRows, of: string, per: readonly string[]): void {
  const limits = rows.sums(of);
  if (limits === undefined) return;
  const summed = [...rows.dimensions.keys()].filter((name) => !per.includes(name));
  const lost = summed.filter((name) => !limits.only_over.includes(name));
  if (lost.length === 0) return;
  throw queryError(
    'not_additive',
    `${of} does not add up over ${lost.join(' and ')}: ${limits.because}`,
    'Define a metric in the model that reads the rows themselves: ' +
      `cumulative: {of: ${of.split('.').at(-1)}}.`,
  );
}

function dimensionOf({ dimensions }: ResultRows, name: string): Expr {
  const expr = dimensions.get(name);
  if (expr === undefined) throw new Error(`the result has no dimension ${name}`);
  return expr;
}

export function valueOf({ values }: ResultRows, name: string): Expr {
  const expr = values.get(name);
  if (expr === undefined) throw new Error(`the result has no value ${name}`);
  return expr;
}
