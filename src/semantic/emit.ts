import type { Dialect } from '../sql/dialect.ts';
import { conditionsSql, exprSql, resultName } from './emit-expr.ts';
import type { Expr } from './expr.ts';
import type { Members } from './members.ts';
import type { Relation } from './model.ts';
import type { Block, Plan } from './plan.ts';

/** Lines are indented as wholes: a person's SQL inside one may hold text literals with line breaks of their own. */
interface CommonTable {
  readonly name: string;
  readonly lines: readonly string[];
}

/** The names have a space, so that no table of a warehouse is likely to be hidden behind one. */
const factName = 'ktx facts';
const mergedName = 'ktx result';

/** The SQL of a plan. Inside, columns are `d1…` and `m1…`; the outermost names are those that were asked for. */
export function emit(plan: Plan, dialect: Dialect): string {
  const tables = commonTables(plan, dialect);
  const bodies = tables.map(({ name, lines }) => `${dialect.quote(name)} AS (\n${lines.map((line) => `  ${line}`).join('\n')}\n)`);
  const order = plan.order.map(({ expr, dir }) => dialect.order(exprSql(expr, dialect), dir));
  const lines = [
    `WITH ${bodies.join(',\n')}`,
    ...select(
      plan.columns.map(({ name, expr }, index) => `${exprSql(expr, dialect)} AS ${dialect.quote(dialect.resultColumn(name, index))}`),
    ),
    `FROM ${dialect.quote(tables.at(-1)?.name ?? factName)} AS ${dialect.quote(resultName)}`,
    ...clause('WHERE', conditionsSql(plan.having, dialect)),
    ...clause('ORDER BY', order.join(', ')),
    ...(plan.limit === undefined ? [] : [dialect.limit(plan.limit, order.length > 0)]),
    ...(dialect.settings === undefined ? [] : [dialect.settings]),
  ];
  return lines.join('\n');
}

function commonTables(plan: Plan, dialect: Dialect): readonly CommonTable[] {
  const [block] = plan.blocks;
  if (block === undefined || plan.blocks.length > 1) throw new Error('a plan of several blocks cannot be emitted yet');
  const facts = { name: factName, lines: blockLines(block, dialect) };
  if (plan.members.length === 0) return [facts];
  const members = plan.members.map((member, index) => ({ name: `ktx members ${index + 1}`, lines: memberLines(member, dialect) }));
  return [facts, ...members, { name: mergedName, lines: mergeLines(block, members, dialect) }];
}

function blockLines(block: Block, dialect: Dialect): readonly string[] {
  const columns = [...block.dimensions, ...block.aggregates];
  return [
    ...select(columns.map(({ expr, column }) => `${exprSql(expr, dialect)} AS ${dialect.quote(column)}`)),
    `FROM ${tableSql(block, dialect)}`,
    ...block.joins.map((join) => `LEFT JOIN ${tableSql(join, dialect)} ON ${exprSql(join.on, dialect)}`),
    ...clause('WHERE', conditionsSql(block.where, dialect)),
    ...clause('GROUP BY', block.dimensions.map(({ expr }, index) => groupItem(expr, index, dialect)).join(', ')),
  ];
}

function groupItem(expr: Expr, index: number, dialect: Dialect): string {
  return dialect.groupsByPosition ? String(index + 1) : exprSql(expr, dialect);
}

function tableSql({ relation, alias }: { relation: Relation; alias: string }, dialect: Dialect): string {
  const table = relation.kind === 'table' ? relation.parts.map((part) => dialect.quote(part)).join('.') : `(\n${relation.sql}\n)`;
  return `${table} AS ${dialect.quote(alias)}`;
}

function memberLines(members: Members, dialect: Dialect): readonly string[] {
  if (members.kind === 'dataset') return blockLines(members.block, dialect);
  return [`SELECT DISTINCT ${members.columns.map((column) => dialect.quote(column)).join(', ')}`, `FROM ${dialect.quote(factName)}`];
}

/** A group of the facts meets its own member in one row; a member alone has counts of 0 and no other values. */
function mergeLines(block: Block, members: readonly CommonTable[], dialect: Dialect): readonly string[] {
  const dimensions = block.dimensions.map(({ column }) => dialect.quote(column));
  const names = block.aggregates.map(({ column }) => dialect.quote(column));
  const merged = block.aggregates.map(({ column, expr }) => {
    const value = `max(${dialect.quote(column)})`;
    return `${expr.function.startsWith('count') ? `COALESCE(${value}, 0)` : value} AS ${dialect.quote(column)}`;
  });
  return [
    ...select([...dimensions, ...merged]),
    'FROM (',
    `  SELECT ${[...dimensions, ...names].join(', ')} FROM ${dialect.quote(factName)}`,
    '  UNION ALL',
    `  SELECT ${[...dimensions, ...names.map(() => 'NULL')].join(', ')} FROM ${members.map(({ name }) => dialect.quote(name)).join(' CROSS JOIN ')}`,
    `) AS ${dialect.quote('all')}`,
    `GROUP BY ${dimensions.join(', ')}`,
  ];
}

function select(items: readonly string[]): readonly string[] {
  const last = items.length - 1;
  return items.length === 1 ? [`SELECT ${items[0]}`] : ['SELECT', ...items.map((item, index) => `  ${item}${index < last ? ',' : ''}`)];
}

function clause(keyword: string, content: string): readonly string[] {
  return content === '' ? [] : [`${keyword} ${content}`];
}
