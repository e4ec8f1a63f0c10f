import { canonicalJson } from '../../lib/json.ts';
import type { Period } from '../../sql/dialect.ts';
import { periodStartType } from '../model/grains.ts';
import type { CommonTable, Expr, NamedColumn, Select } from '../relational/query-tree.ts';

type Truncation = Extract<Expr, { kind: 'truncate' }>;

/**
 * Of two tables that aggregate the same rows, one of them by later periods (the year before), the
 * later one reads the groups of the first and moves their periods, so that the rows are read once.
 */
export function shareShiftedTables(tables: readonly CommonTable[]): readonly CommonTable[] {
  return tables.map((table, index) => {
    const { query } = table;
    if (query.kind !== 'select' || !query.columns.some(({ expr }) => isShifted(expr))) return table;
    const shared = tables
      .slice(0, index)
      .values()
      .map((earlier) => readMoved(query, earlier))
      .find((select) => select !== undefined);
    return shared === undefined ? table : { ...table, query: shared };
  });
}

const isShifted = (expr: Expr): boolean => expr.kind === 'truncate' && expr.of.kind === 'add';

/** The columns of `shifted` from the groups of the earlier table; undefined if it has others. */
function readMoved(shifted: Select, { name, query }: CommonTable): Select | undefined {
  if (query.kind !== 'select' || !haveSameRows(shifted, query)) return undefined;
  const { groups = 0 } = query;
  const columns = shifted.columns.map(({ column, expr }, index): NamedColumn<Expr> | undefined => {
    const isDimension = index < groups;
    const source = isDimension
      ? query.columns[index]
      : query.columns.slice(groups).find((candidate) => isSame(candidate.expr, expr));
    if (source === undefined) return undefined;
    const read: Expr = { kind: 'column', alias: name, name: source.column };
    if (isSame(source.expr, expr)) return { column, expr: read };
    const move = movedBy(expr, source.expr);
    return move && { column, expr: { kind: 'add', of: read, ...move } };
  });
  const known = columns.filter((column) => column !== undefined);
  if (known.length < columns.length) return undefined;
  const from = { alias: name, relation: { kind: 'common', name } } as const;
  return { kind: 'select', columns: known, from, joins: [], where: [] };
}

function haveSameRows(first: Select, second: Select): boolean {
  const rowsOf = ({ distinct, hasAllColumns, from, joins, where, groups }: Select) =>
    canonicalJson({ distinct, hasAllColumns, from, joins, where, groups });
  return first.groups !== undefined && rowsOf(first) === rowsOf(second);
}

const isSame = (first: Expr, second: Expr): boolean =>
  canonicalJson(first) === canonicalJson(second);

/** The step from the period of `plain` to that of `shifted`, if it is the same for each row. */
function movedBy(shifted: Expr, plain: Expr): Pick<MovedPeriod, 'period' | 'type'> | undefined {
  if (shifted.kind !== 'truncate' || plain.kind !== 'truncate') return undefined;
  const { grain, of } = shifted;
  if (grain !== plain.grain || of.kind !== 'add' || !keepsPeriods(of.period, grain))
    return undefined;
  if (!isSameTime({ ...shifted, of: of.of }, plain)) return undefined;
  const type = periodStartType(grain) === 'date' ? 'date' : 'datetime';
  return { period: of.period, type };
}

/** An instant is moved on the clock of its zone: its seconds there are cut like a local time. */
function isSameTime(cut: Truncation, plain: Truncation): boolean {
  const { of, options } = cut;
  const isCut = of.kind === 'truncate' && of.grain === 'second';
  const time = isCut ? of : { options, of };
  return (
    options.weekStart === plain.options.weekStart &&
    canonicalJson(time.options) === canonicalJson(plain.options) &&
    isSame(withoutTime(time.of), withoutTime(plain.of))
  );
}

type MovedPeriod = Extract<Expr, { kind: 'add' }>;

const withoutTime = (expr: Expr): Expr => (expr.kind === 'time' ? expr.of : expr);

/** Whether the step leads from each whole period to one: a year from months, not from days. */
function keepsPeriods({ count, unit }: Period, grain: Truncation['grain']): boolean {
  const months = { month: 1, year: 12 }[unit as string];
  const stepMonths = { month: 1, quarter: 3, year: 12 }[grain as string];
  if (stepMonths !== undefined) return months !== undefined && (count * months) % stepMonths === 0;
  if (grain === 'week') return unit === 'day' && count % 7 === 0;
  return grain === 'day' && unit === 'day';
}
