import type { Dialect } from '../../sql/dialect.ts';
import type {
  AggregateExpr,
  Expr,
  ExprPart,
  FromItem,
  JoinClause,
  Query,
  Select,
} from '../relational/query-tree.ts';
import { compareSql } from './emit-compare.ts';

/** Before every column of a block: bare, `m1` would mean an output that was given this name. */
export const resultName = 'ktx';

/** SQL of an expression, safe as an operand: it is one name, one call, or in parentheses. */
export function exprSql(expr: Expr, dialect: Dialect): string {
  switch (expr.kind) {
    case 'column':
      return `${dialect.quote(expr.alias)}.${dialect.quote(expr.name)}`;
    case 'written':
      return `${dialect.quote(expr.alias)}.${expr.text.startsWith('"') ? dialect.quote(unquoted(expr.text)) : expr.text}`;
    case 'text': {
      const text = expr.parts.map((part) => partSql(part, dialect)).join('');
      return /^[\w.]+$/.test(text) ? text : `(${text})`;
    }
    case 'call':
      return expr.parts.map((part) => partSql(part, dialect)).join('');
    case 'literal':
      return dialect.literal(expr.value);
    case 'missing':
      return dialect.nullsNeedType
        ? `(SELECT ${dialect.quote(expr.column)} FROM ${dialect.quote(expr.table)} WHERE 1 = 0)`
        : 'NULL';
    case 'greatest':
      return `(SELECT max(${dialect.quote(expr.column)}) FROM ${dialect.quote(expr.table)})`;
    case 'time': {
      const of = exprSql(expr.of, dialect);
      return dialect.checkedTime?.(of) ?? of;
    }
    case 'truncate':
      return dialect.truncate(expr.grain, exprSql(expr.of, dialect), expr.options);
    case 'add':
      return dialect.add(exprSql(expr.of, dialect), expr.period, expr.type);
    case 'add_times': {
      const count = `${exprSql(expr.times, dialect)} * ${expr.period.count}`;
      if (dialect.addCounted === undefined)
        throw new Error(`${dialect.name} adds no counted periods`);
      return dialect.addCounted(exprSql(expr.of, dialect), count, {
        unit: expr.period.unit,
        type: expr.type,
      });
    }
    case 'compare':
      return `(${compareSql(expr.op, { left: exprSql(expr.left, dialect), values: expr.values }, dialect)})`;
    case 'aggregate':
      return aggregateSql(expr, dialect);
    case 'when':
      return `CASE WHEN ${conditionsSql(expr.where, dialect)} THEN ${exprSql(expr.value, dialect)} END`;
    case 'rank': {
      const partition = expr.partition.map((one) => exprSql(one, dialect)).join(', ');
      const items = expr.order.map(
        (one) => `${exprSql(one, dialect)}${expr.isDescending ? ' DESC' : ''}`,
      );
      const order = `ORDER BY ${items.join(', ')}`;
      return `rank() OVER (${partition === '' ? '' : `PARTITION BY ${partition} `}${order})`;
    }
    case 'exists':
      return existsSql(expr, dialect);
    case 'result':
      return `${dialect.quote(resultName)}.${dialect.quote(expr.column)}`;
  }
  return expr satisfies never;
}

function partSql(part: ExprPart, dialect: Dialect): string {
  if (typeof part === 'string') return part;
  return part.kind === 'division' ? dialect.division : exprSql(part, dialect);
}

export function conditionsSql(conditions: readonly Expr[], dialect: Dialect): string {
  return conditions.map((condition) => exprSql(condition, dialect)).join(' AND ');
}

function aggregateSql({ function: name, of, fraction }: AggregateExpr, dialect: Dialect): string {
  const argument = of === undefined ? '*' : exprSql(of, dialect);
  if (name === 'avg') return dialect.average(argument);
  if (name === 'count_distinct') return `count(DISTINCT ${argument})`;
  if (name === 'median' || name === 'percentile')
    return dialect.percentile(argument, fraction ?? 0.5);
  return `${name}(${argument})`;
}

function existsSql(
  { joins: [first, ...joins], where }: Extract<Expr, { kind: 'exists' }>,
  dialect: Dialect,
): string {
  if (first === undefined) throw new Error('an EXISTS over no rows');
  const rows = [
    'SELECT 1',
    `FROM ${relationSql(first, dialect)}`,
    ...joins.map((join) => joinSql(join, dialect)),
  ];
  return `EXISTS (${rows.join(' ')} WHERE ${conditionsSql([first.on, where], dialect)})`;
}

function joinSql(join: JoinClause, dialect: Dialect): string {
  const table = relationSql(join, dialect);
  if (join.kind === 'cross') return `CROSS JOIN ${table}`;
  return `${join.kind === 'left' ? 'LEFT JOIN' : 'JOIN'} ${table} ON ${exprSql(join.on, dialect)}`;
}

function relationSql({ relation, alias }: FromItem, dialect: Dialect): string {
  return `${bodySql(relation, dialect)} AS ${dialect.quote(alias)}`;
}

function bodySql(relation: FromItem['relation'], dialect: Dialect): string {
  switch (relation.kind) {
    case 'table':
      return relation.parts.map((part) => dialect.quote(part)).join('.');
    case 'query':
      return `(\n${relation.sql}\n)`;
    case 'common':
      return dialect.quote(relation.name);
    case 'guarded':
    case 'select':
      return `(\n${innerLines(relation, dialect).join('\n')}\n)`;
  }
  return relation satisfies never;
}

/** Behind row rules nothing of the query is computed over rows that they hide: what fails there would quote them. */
function innerLines(
  { kind, select }: Extract<FromItem['relation'], { select: Query }>,
  dialect: Dialect,
): readonly string[] {
  const fence = kind === 'guarded' && dialect.fence !== undefined ? [dialect.fence] : [];
  return [...queryLines(select, dialect), ...fence].map(indented);
}

/** The lines of a query, in parts: a person's SQL inside one may hold text literals with line breaks of their own. */
export function queryLines(query: Query, dialect: Dialect): readonly string[] {
  if (query.kind === 'select') return selectLines(query, dialect);
  const keyword = query.all ? 'UNION ALL' : dialect.union;
  return query.parts.flatMap((part, index) => [
    ...(index === 0 ? [] : [keyword]),
    ...selectLines(part, dialect),
  ]);
}

function selectLines(
  { distinct, columns, from, joins, where, groups = 0 }: Select,
  dialect: Dialect,
): readonly string[] {
  const all = columns.length === 0 ? [`${dialect.quote(from.alias)}.*`] : [];
  const items = [
    ...all,
    ...columns.map(({ expr, column }) => `${exprSql(expr, dialect)} AS ${dialect.quote(column)}`),
  ];
  return [
    ...listLines(distinct === true ? 'SELECT DISTINCT' : 'SELECT', items),
    ...fromLines(from, dialect),
    ...joins.flatMap((join) => joinLines(join, dialect)),
    ...clauseLines('WHERE', conditionsSql(where, dialect)),
    ...clauseLines(
      'GROUP BY',
      columns
        .slice(0, groups)
        .map(({ expr }, index) => groupItem(expr, index, dialect))
        .join(', '),
    ),
  ];
}

function groupItem(expr: Expr, index: number, dialect: Dialect): string {
  return dialect.groupsByPosition ? String(index + 1) : exprSql(expr, dialect);
}

/** A query in it keeps its lines apart, so that they are indented with the others. */
function fromLines(from: FromItem, dialect: Dialect): readonly string[] {
  return nestedLines(`FROM ${relationSql(from, dialect)}`, from, dialect);
}

function joinLines(join: JoinClause, dialect: Dialect): readonly string[] {
  return nestedLines(joinSql(join, dialect), join, dialect);
}

/** The parts of a text of which a query is a part. */
function nestedLines(text: string, { relation }: FromItem, dialect: Dialect): readonly string[] {
  if (relation.kind !== 'select' && relation.kind !== 'guarded') return [text];
  const body = bodySql(relation, dialect);
  const at = text.indexOf(body);
  return [
    `${text.slice(0, at)}(`,
    ...innerLines(relation, dialect),
    `)${text.slice(at + body.length)}`,
  ];
}

export function listLines(keyword: string, items: readonly string[]): readonly string[] {
  const last = items.length - 1;
  return items.length === 1
    ? [`${keyword} ${items[0]}`]
    : [keyword, ...items.map((item, index) => `  ${item}${index < last ? ',' : ''}`)];
}

export function clauseLines(keyword: string, content: string): readonly string[] {
  return content === '' ? [] : [`${keyword} ${content}`];
}

export function indented(line: string): string {
  return `  ${line}`;
}

/** People quote names with `"` whatever the dialect. */
function unquoted(name: string): string {
  return name.slice(1, -1).replaceAll('""', '"');
}
