import { checkCorrelation } from './check-correlation.ts';
import { percentileSql, takesFraction } from '../../sql/percentiles.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { Plan } from '../plan/plan.ts';
import {
  type AggregateExpr,
  type Expr,
  type ExprPart,
  type FromItem,
  isBoolean,
  type JoinClause,
  type Query,
  type Select,
} from '../relational/query-tree.ts';
import { greatestSql, typedNullSql } from './column-queries.ts';
import { compareSql } from './emit-compare.ts';
import { legiblePlan } from './legible-plan.ts';

/**
 * The alias of the result in the outermost query. A bare name could mean a column that the query
 * names so.
 */
const resultAlias = 'ktx';

/**
 * The SQL of a plan: one SELECT if that is enough, otherwise WITH the plan's tables, then the
 * outermost SELECT, whose columns have the names of the query.
 */
export function emit(plan: Plan, dialect: Dialect): string {
  const { tables, columns, having, order, only } = legiblePlan(plan, dialect);
  const items = columns.map(({ name, expr }, index) => {
    const column = dialect.quote(dialect.resultColumn(name, index));
    return { column, sql: exprSql(expr, dialect) };
  });
  const orderItems = order.map(({ expr, dir }) => {
    const sql = exprSql(expr, dialect);
    const named = only && items.find((item) => item.sql === sql)?.column;
    return orderSql(named ?? sql, sql, { dir, dialect });
  });
  const lines = [
    ...withLines(tables, plan.isRecursive, dialect),
    ...listLines(
      'SELECT',
      items.map(({ sql, column }) => `${sql} AS ${column}`),
    ),
    ...rowsLines(only, plan, dialect),
    ...clauseLines(only === undefined ? 'WHERE' : 'HAVING', conditionsSql(having, dialect)),
    ...clauseLines('ORDER BY', orderItems.join(', ')),
    ...(plan.limit === undefined ? [] : [dialect.limit(plan.limit, orderItems.length > 0)]),
    ...(dialect.settings === undefined ? [] : [dialect.settings]),
  ];
  return lines.join('\n');
}

function withLines(
  tables: Plan['tables'],
  isRecursive: boolean,
  dialect: Dialect,
): readonly string[] {
  if (tables.length === 0) return [];
  const bodies = tables.map(({ name, query }) => {
    const body = queryLines(query, dialect).map(indentLine).join('\n');
    return `${dialect.quote(name)} AS (\n${body}\n)`;
  });
  const keyword = (isRecursive ? dialect.recursiveWith : undefined) ?? 'WITH';
  return [`${keyword} ${bodies.join(',\n')}`];
}

/** FROM, WHERE and GROUP BY of the outermost SELECT. */
function rowsLines(only: Select | undefined, plan: Plan, dialect: Dialect): readonly string[] {
  if (only !== undefined) return sourceLines(only, dialect);
  const table = dialect.quote(plan.tables.at(-1)?.name ?? '');
  return [`FROM ${table} AS ${dialect.quote(resultAlias)}`];
}

/** By the name of a column where the engine takes it: an item may use its operand only once. */
function orderSql(
  named: string,
  sql: string,
  { dir, dialect }: { dir: 'asc' | 'desc'; dialect: Dialect },
): string {
  const item = dialect.order(named, dir);
  const isOnce = item.indexOf(named) === item.lastIndexOf(named);
  return isOnce && item.startsWith(named) ? item : dialect.order(sql, dir);
}

/** A query by itself. */
export function emitQuery(query: Query, dialect: Dialect): string {
  return queryLines(query, dialect).join('\n');
}

/**
 * The lines of a query. A line may contain line breaks: they are inside text literals of a person's
 * SQL, and must not be indented.
 */
function queryLines(query: Query, dialect: Dialect): readonly string[] {
  if (query.kind === 'select') return selectLines(query, dialect);
  const keyword = query.all ? 'UNION ALL' : dialect.union;
  return query.parts.flatMap((part, index) => [
    ...(index === 0 ? [] : [keyword]),
    ...selectLines(part, dialect),
  ]);
}

function selectLines(select: Select, dialect: Dialect): readonly string[] {
  const { distinct, columns, from } = select;
  const items = [
    ...(hasStar(select) ? [`${dialect.quote(from.alias)}.*`] : []),
    ...columns.map(({ expr, column }) => `${exprSql(expr, dialect)} AS ${dialect.quote(column)}`),
  ];
  return [
    ...listLines(distinct === true ? 'SELECT DISTINCT' : 'SELECT', items),
    ...sourceLines(select, dialect),
  ];
}

function hasStar({ hasAllColumns, columns }: Select): boolean {
  return hasAllColumns === true || columns.length === 0;
}

/** FROM, WHERE and GROUP BY. */
function sourceLines(select: Select, dialect: Dialect): readonly string[] {
  const { columns, from, joins, where, groups = 0 } = select;
  const groupItems = columns
    .slice(0, groups)
    .map(({ expr }, index) =>
      dialect.groupsByPosition ? String(index + 1) : exprSql(expr, dialect),
    );
  return [
    ...withSubqueryLines(`FROM ${fromSql(select, dialect)}`, from, dialect),
    ...joins.flatMap((join) => withSubqueryLines(joinSql(join, dialect), join, dialect)),
    ...clauseLines('WHERE', conditionsSql(where, dialect)),
    ...clauseLines('GROUP BY', groupItems.join(', ')),
  ];
}

/**
 * A FROM or JOIN clause as lines: those of a subquery stay separate, so that they are indented one
 * by one.
 */
function withSubqueryLines(
  clause: string,
  { relation }: FromItem,
  dialect: Dialect,
): readonly string[] {
  if (relation.kind !== 'select' && relation.kind !== 'guarded') return [clause];
  const subquery = relationSql(relation, dialect);
  const start = clause.indexOf(subquery);
  return [
    `${clause.slice(0, start)}(`,
    ...subqueryLines(relation, dialect),
    `)${clause.slice(start + subquery.length)}`,
  ];
}

/** `SELECT item` on one line, or one line per item. */
function listLines(keyword: string, items: readonly string[]): readonly string[] {
  if (items.length === 1) return [`${keyword} ${items[0]}`];
  const last = items.length - 1;
  return [keyword, ...items.map((item, index) => `  ${item}${index < last ? ',' : ''}`)];
}

/** No line if the clause is empty. */
function clauseLines(keyword: string, content: string): readonly string[] {
  return content === '' ? [] : [`${keyword} ${content}`];
}

function indentLine(line: string): string {
  return `  ${line}`;
}

function joinSql(join: JoinClause, dialect: Dialect): string {
  const item = fromItemSql(join, dialect);
  if (join.kind === 'cross') return `CROSS JOIN ${item}`;
  const keyword = join.kind === 'left' ? 'LEFT JOIN' : 'JOIN';
  return `${keyword} ${item} ON ${conditionsSql([join.on], dialect)}`;
}

function fromSql(select: Select, dialect: Dialect): string {
  const { from, joins } = select;
  const isAmbiguous =
    dialect.starMeansEveryName === true &&
    hasStar(select) &&
    joins.length > 0 &&
    from.relation.kind === 'table';
  if (!isAmbiguous) return fromItemSql(from, dialect);
  return `(SELECT * FROM ${relationSql(from.relation, dialect)}) AS ${dialect.quote(from.alias)}`;
}

function fromItemSql({ relation, alias }: FromItem, dialect: Dialect): string {
  const name = relationSql(relation, dialect);
  const quoted = dialect.quote(alias);
  return name === quoted ? name : `${name} AS ${quoted}`;
}

function relationSql(relation: FromItem['relation'], dialect: Dialect): string {
  switch (relation.kind) {
    case 'table':
      return relation.parts.map((part) => dialect.quote(part)).join('.');
    case 'query':
      return `(\n${relation.sql}\n)`;
    case 'common':
      return dialect.quote(relation.name);
    case 'guarded':
    case 'select':
      return `(\n${subqueryLines(relation, dialect).join('\n')}\n)`;
  }
  return relation satisfies never;
}

/**
 * Row rules get an optimizer fence: otherwise the engine could compute an expression of the query
 * over hidden rows, and an error would quote their values.
 */
function subqueryLines(
  { kind, select }: Extract<FromItem['relation'], { select: Query }>,
  dialect: Dialect,
): readonly string[] {
  const fence = kind === 'guarded' && dialect.fence !== undefined ? [dialect.fence] : [];
  return [...queryLines(select, dialect), ...fence].map(indentLine);
}

/** The conditions joined by AND; empty for none. */
function conditionsSql(conditions: readonly Expr[], dialect: Dialect): string {
  return conditions.map((condition) => conditionSql(condition, dialect)).join(' AND ');
}

/** A condition. Where there are no booleans, a value is compared with 1. */
function conditionSql(condition: Expr, dialect: Dialect): string {
  if (dialect.hasBitsOnly === true) {
    if (condition.kind === 'boolean' && condition.isCondition)
      return exprSql(condition.of, dialect);
    if (condition.kind === 'boolean' || condition.kind === 'boolean_word')
      return `(${exprSql(condition, dialect)} = 1)`;
  }
  return exprSql(condition, dialect);
}

type ExprByKind = {
  readonly [Kind in Expr['kind']]: Extract<Expr, { readonly kind: Kind }>;
};

type ExprEmitters = {
  readonly [Kind in Expr['kind']]: (expr: ExprByKind[Kind], dialect: Dialect) => string;
};

/** The SQL of an expression, safe as an operand: a name, a call, or text in parentheses. */
export function exprSql(expr: Expr, dialect: Dialect): string {
  return emitKind(expr.kind, expr, dialect);
}

function emitKind<Kind extends Expr['kind']>(
  kind: Kind,
  expr: ExprByKind[Kind],
  dialect: Dialect,
): string {
  return exprEmitters[kind](expr, dialect);
}

const exprEmitters: ExprEmitters = {
  column: ({ alias, name }, dialect) => `${dialect.quote(alias)}.${dialect.quote(name)}`,
  raw_column: ({ alias, text }, dialect) => `${dialect.quote(alias)}.${requoteName(text, dialect)}`,
  text: ({ parts }, dialect) => {
    const text = partsSql(parts, dialect);
    return /^[\w.]+$/.test(text) ? text : `(${text})`;
  },
  call: ({ parts }, dialect) => partsSql(parts, dialect),
  literal: ({ value }, dialect) => dialect.literal(value),
  typed_null: typedNullSql,
  greatest: greatestSql,
  time: ({ of }, dialect) => {
    const time = exprSql(of, dialect);
    return dialect.checkedTime?.(time) ?? time;
  },
  number: ({ of }, dialect) => {
    const number = exprSql(of, dialect);
    return dialect.checkedNumber?.(number) ?? number;
  },
  truncate: ({ grain, of, options }, dialect) =>
    dialect.truncate(grain, exprSql(of, dialect), options),
  is_shown: ({ of, timezone }, dialect) =>
    dialect.isShown?.(exprSql(of, dialect), timezone) ?? '1 = 1',
  date_part: ({ part, of }, dialect) => dialect.datePart(part, exprSql(of, dialect)),
  add: ({ of, period, type }, dialect) => dialect.add(exprSql(of, dialect), period, type),
  add_times: addTimesSql,
  compare: ({ op, left, values }, dialect) => {
    const literals = values.filter((value) => value !== null);
    const operands = {
      left: exprSql(left, dialect),
      literals: literals.map((value) => exprSql(value, dialect)),
      hasNull: values.includes(null),
      dialect,
    };
    return `(${compareSql(op, operands)})`;
  },
  moment: ({ type, text }, dialect) => {
    if (type === 'datetime_tz') return dialect.instant(text);
    // Where times are texts, only the same form is equal.
    const isShort = type === 'datetime' && dialect.checkedTime === undefined;
    return dialect.literal(isShort ? text.replace(/ 00:00:00$/, '') : text);
  },
  aggregate: aggregateSql,
  boolean: ({ of, isCondition }, dialect) => {
    const sql = exprSql(of, dialect);
    if (dialect.hasBitsOnly !== true || !isCondition) return sql;
    return `CAST(CASE WHEN ${sql} THEN 1 WHEN NOT ${sql} THEN 0 END AS bit)`;
  },
  truth: ({ of }, dialect) => conditionsSql([of], dialect),
  boolean_word: ({ text }, dialect) =>
    dialect.hasBitsOnly === true ? dialect.literal(text.toLowerCase() === 'true') : text,
  conditional: ({ where, value }, dialect) =>
    `CASE WHEN ${conditionsSql(where, dialect)} THEN ${exprSql(value, dialect)} END`,
  row_number: ({ partition, order }, dialect) =>
    `row_number() ${windowSql({ partition, order, isDescending: false }, dialect)}`,
  ordering: ({ of, dir }, dialect) => dialect.order(exprSql(of, dialect), dir),
  rank: rankSql,
  exists: existsSql,
  output_column: ({ column }, dialect) => `${dialect.quote(resultAlias)}.${dialect.quote(column)}`,
};

function partsSql(parts: readonly ExprPart[], dialect: Dialect): string {
  return parts.map((part) => partSql(part, dialect)).join('');
}

function partSql(part: ExprPart, dialect: Dialect): string {
  if (typeof part === 'string') return part;
  return part.kind === 'division' ? dialect.division : exprSql(part, dialect);
}

/** Model files quote names with `"` in every dialect. A name without quotes stays as it is. */
function requoteName(name: string, dialect: Dialect): string {
  if (!name.startsWith('"')) return name;
  return dialect.quote(name.slice(1, -1).replaceAll('""', '"'));
}

function addTimesSql(
  { of, period, times, type }: ExprByKind['add_times'],
  dialect: Dialect,
): string {
  if (dialect.addCounted === undefined)
    throw new Error(`The dialect ${dialect.name} cannot add a counted number of periods.`);
  const count = `${exprSql(times, dialect)} * ${period.count}`;
  return dialect.addCounted(exprSql(of, dialect), count, { unit: period.unit, type });
}

function aggregateSql({ function: name, of, fraction }: AggregateExpr, dialect: Dialect): string {
  const argument = of === undefined ? '*' : exprSql(of, dialect);
  if (of !== undefined && isBoolean(of) && !name.startsWith('count'))
    return aggregateOfBooleans({ kind: 'aggregate', function: name, of, fraction }, dialect);
  if (name === 'avg') return dialect.average(argument);
  if (name === 'count_distinct') return `count(DISTINCT ${argument})`;
  if (takesFraction(name)) return percentileSql(argument, { name, fraction }, dialect);
  return `${name}(${argument})`;
}

/** Of booleans there is a smallest and a greatest; anything else takes true as 1. */
function aggregateOfBooleans(aggregate: AggregateExpr, dialect: Dialect): string {
  const { function: name, of } = aggregate;
  if (of === undefined) throw new Error('An aggregate of booleans has an argument.');
  const value = exprSql(of, dialect);
  if (name === 'min' || name === 'max')
    return dialect.booleanExtreme?.(name, value) ?? `${name}(${value})`;
  const condition = conditionsSql([of], dialect);
  const number = `CASE WHEN ${condition} THEN 1 WHEN NOT ${condition} THEN 0 END`;
  return aggregateSql({ ...aggregate, of: { kind: 'text', parts: [number] } }, dialect);
}

function rankSql({ partition, order, isDescending }: ExprByKind['rank'], dialect: Dialect): string {
  return `rank() ${windowSql({ partition, order, isDescending }, dialect)}`;
}

function windowSql(
  { partition, order, isDescending }: Omit<ExprByKind['rank'], 'kind'>,
  dialect: Dialect,
): string {
  const partitionItems = partition.map((expr) => exprSql(expr, dialect)).join(', ');
  const orderItems = order
    .map((expr) => `${exprSql(expr, dialect)}${isDescending ? ' DESC' : ''}`)
    .join(', ');
  const partitionBy = partitionItems === '' ? '' : `PARTITION BY ${partitionItems} `;
  return `OVER (${partitionBy}ORDER BY ${orderItems})`;
}

function existsSql(exists: ExprByKind['exists'], dialect: Dialect): string {
  const { joins, where, equal } = exists;
  if (equal === undefined) checkCorrelation(exists, dialect);
  const [first, ...others] = joins;
  if (first === undefined) throw new Error('An EXISTS needs at least one join.');
  const rows = [
    `SELECT ${equal === undefined ? '1' : exprSql(equal.inner, dialect)}`,
    `FROM ${fromItemSql(first, dialect)}`,
    ...others.map((join) => joinSql(join, dialect)),
  ];
  if (equal !== undefined) {
    const found = `${rows.join(' ')} WHERE ${conditionsSql([where], dialect)}`;
    return `(${exprSql(equal.outer, dialect)} IN (${found}))`;
  }
  return `EXISTS (${rows.join(' ')} WHERE ${conditionsSql([first.on, where], dialect)})`;
}
