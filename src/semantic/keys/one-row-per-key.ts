import { type ModelDataset, requireReadableRows } from '../model/model.ts';
import type { Expr, ExprPart, FromItem, NamedColumn, Select } from '../relational/query-tree.ts';
import type { KeyAssumption, ValidityRange } from './key-assumption.ts';

/** A dataset, and its fields as expressions over rows whose alias is its name. */
export interface KeyedRows {
  readonly dataset: ModelDataset;
  readonly column: (name: string) => Expr;
}

type Rows = FromItem['relation'];

/** Columns that the rows get beside their own. */
const rowNumber = 'ktx row';
const hasNext = 'ktx has next';
const nextStart = 'ktx next start';

/**
 * The rows of a dataset whose key the data contradict, so that a join to them multiplies no row: of
 * the rows with one key the first by its values, so that the choice is the same in each run.
 * Validity ranges keep all rows; `endBeforeNext` ends each where the next one starts.
 */
export function oneRowPerKey({ dataset, column }: KeyedRows, key: KeyAssumption): Rows {
  const alias = dataset.name;
  const over = (order: readonly ExprPart[]): readonly ExprPart[] => [
    ' OVER (',
    ...(key.columns.length === 0 ? [] : ['PARTITION BY ', ...listOf(key.columns.map(column)), ' ']),
    ...(order.length === 0 ? [] : ['ORDER BY ', ...order]),
    ')',
  ];
  const ordered = orderedColumns(dataset);
  const values = listOf((ordered.length > 0 ? ordered : key.columns).map(column));
  const numbered = (columns: readonly NamedColumn<Expr>[]): Select => ({
    kind: 'select',
    hasAllColumns: true,
    columns,
    from: { alias, relation: requireReadableRows(dataset) },
    joins: [],
    where: [],
  });
  const { range } = key;
  if (range !== undefined) {
    const start = column(range.from);
    const order = [...nullsFirst(start), ', ', ...values];
    const select = numbered([
      { column: hasNext, expr: call('LEAD(1)', over(order)) },
      { column: nextStart, expr: call('LEAD(', [start, ')', ...over(order)]) },
    ]);
    return { kind: 'select', select };
  }
  const select = numbered([{ column: rowNumber, expr: call('ROW_NUMBER()', over(values)) }]);
  const isFirst: Expr = {
    kind: 'text',
    parts: [{ kind: 'column', alias, name: rowNumber }, ' = 1'],
  };
  const from = { alias, relation: { kind: 'select', select } } as const;
  return {
    kind: 'select',
    select: { kind: 'select', columns: [], from, joins: [], where: [isFirst] },
  };
}

/** The condition that a value lies before the start of the next range of `oneRowPerKey`. */
export function endBeforeNext(alias: string, value: Expr): Expr {
  const column = (name: string): Expr => ({ kind: 'column', alias, name });
  return {
    kind: 'text',
    parts: [column(hasNext), ' IS NULL OR ', value, ' < ', column(nextStart)],
  };
}

/**
 * How many keys of the dataset have several rows, or how many of its ranges begin before an earlier
 * one has ended: one row with the column `found`. Rows with NULL in a column of the key are joined
 * to nothing and do not count.
 */
export function contradictionsQuery(
  { dataset, column }: KeyedRows,
  { columns, range }: KeyAssumption,
): Select {
  const alias = dataset.name;
  const keyColumns = columns.map((name, index) => ({
    column: `k${index + 1}`,
    expr: column(name),
  }));
  const rows = {
    kind: 'select',
    from: { alias, relation: requireReadableRows(dataset) },
    joins: [],
    where: keyColumns.map(({ expr }): Expr => ({ kind: 'text', parts: [expr, ' IS NOT NULL'] })),
  } as const;
  const inner: Select =
    range === undefined
      ? {
          ...rows,
          columns: [...keyColumns, { column: 'n', expr: call('COUNT(*)', []) }],
          groups: keyColumns.length,
        }
      : overlapColumns(rows, { range, column, keys: keyColumns.map(({ expr }) => expr) });
  const inKeys = (name: string): Expr => ({ kind: 'column', alias: 'keys', name });
  const condition: Expr =
    range === undefined
      ? { kind: 'text', parts: [inKeys('n'), ' > 1'] }
      : overlapCondition(range, inKeys);
  return {
    kind: 'select',
    columns: [{ column: 'found', expr: call('COUNT(*)', []) }],
    from: { alias: 'keys', relation: { kind: 'select', select: inner } },
    joins: [],
    where: [condition],
  };
}

interface RangeColumns {
  readonly range: ValidityRange;
  readonly column: (name: string) => Expr;
  readonly keys: readonly Expr[];
}

/**
 * For each range that holds a value at all: its start, how many ranges of its key start earlier,
 * and when the last of those ends.
 */
function overlapColumns(
  rows: Omit<Select, 'columns'>,
  { range, column, keys }: RangeColumns,
): Select {
  const [start, end] = [column(range.from), column(range.to)];
  const partition = keys.length === 0 ? [] : ['PARTITION BY ', ...listOf(keys), ' '];
  const earlier = [
    ' OVER (',
    ...partition,
    'ORDER BY ',
    ...nullsFirst(start),
    ' ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)',
  ];
  const holdsValues: Expr = {
    kind: 'text',
    parts: [
      start,
      ' IS NULL OR ',
      end,
      ' IS NULL OR ',
      start,
      range.includesEnd ? ' <= ' : ' < ',
      end,
    ],
  };
  return {
    ...rows,
    columns: [
      { column: 'starts', expr: start },
      { column: 'earlier', expr: call('COUNT(*)', earlier) },
      {
        column: 'endless',
        expr: call('COUNT(CASE WHEN ', [end, ' IS NULL THEN 1 END)', ...earlier]),
      },
      { column: 'ended', expr: call('MAX(', [end, ')', ...earlier]) },
    ],
    where: [...rows.where, holdsValues],
  };
}

function overlapCondition({ includesEnd }: ValidityRange, column: (name: string) => Expr): Expr {
  const [starts, earlier, endless, ended] = ['starts', 'earlier', 'endless', 'ended'].map(column);
  if (!starts || !earlier || !endless || !ended) throw new Error('a column is missing');
  return {
    kind: 'text',
    parts: [
      earlier,
      ' > 0 AND (',
      starts,
      ' IS NULL OR ',
      endless,
      ' > 0 OR ',
      ended,
      includesEnd ? ' >= ' : ' > ',
      starts,
      ')',
    ],
  };
}

function nullsFirst(start: Expr): readonly ExprPart[] {
  return ['CASE WHEN ', start, ' IS NULL THEN 0 ELSE 1 END, ', start];
}

function call(name: string, parts: readonly ExprPart[]): Expr {
  return { kind: 'call', parts: [name, ...parts] };
}

function listOf(exprs: readonly Expr[]): readonly ExprPart[] {
  return exprs.flatMap((expr, index) => (index === 0 ? [expr] : [', ', expr]));
}

/** The physical columns whose type every engine can order. */
function orderedColumns({ fields }: ModelDataset): readonly string[] {
  return [...fields.values()]
    .filter(
      ({ expr, rowMetric, type }) =>
        !expr && !rowMetric && type !== undefined && type !== 'unknown',
    )
    .map(({ name }) => name);
}
