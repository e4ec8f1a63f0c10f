import type { Dialect } from '../sql/dialect.ts';
import type { FieldType } from '../sql/field-type.ts';
import { exprSql } from './emit-expr.ts';
import type { Members } from './members.ts';
import type { Relation } from './model.ts';
import type { Block, Plan } from './plan.ts';
import type { MetricReceipt } from './receipt.ts';

export interface OutputColumn {
  readonly name: string;
  readonly kind: 'dimension' | 'metric';
  readonly type: FieldType | undefined;
  readonly grain: string | undefined;
  readonly unit: string | undefined;
  readonly description: string | undefined;
}

export interface Receipt {
  readonly metrics: readonly MetricReceipt[];
  readonly notes: readonly string[];
}

export interface Emitted {
  readonly sql: string;
  /** Empty: literals are part of the text, escaped. */
  readonly params: readonly unknown[];
  readonly columns: readonly OutputColumn[];
  readonly receipt: Receipt;
}

/** The SQL of a plan. Inside, columns are `d1…` and `m1…`; the outermost names are those that were asked for. */
export function emit(plan: Plan, dialect: Dialect): Emitted {
  const results = [
    ...plan.dimensions.map(({ column, name }) => ({ name, sql: dialect.quote(column) })),
    ...plan.outputs.map(({ expr, name }) => ({ name, sql: exprSql(expr, dialect) })),
  ];
  const tables = commonTables(plan, dialect);
  const bodies = tables.map(({ name, lines }) => `${dialect.quote(name)} AS (\n${lines.map((line) => `  ${line}`).join('\n')}\n)`);
  const order = plan.order.map(({ expr, dir }) => `${exprSql(expr, dialect)}${dir === 'desc' ? ' DESC' : ''} NULLS LAST`);
  const lines = [
    `WITH ${bodies.join(',\n')}`,
    ...select(results.map(({ name, sql }) => `${sql} AS ${dialect.quote(name)}`)),
    `FROM ${dialect.quote(tables.at(-1)?.name ?? factName)}`,
    ...clause(
      'WHERE',
      plan.having.map((condition) => exprSql(condition, dialect)),
      ' AND ',
    ),
    ...clause('ORDER BY', order, ', '),
    ...(plan.limit === undefined ? [] : [dialect.limit(plan.limit)]),
  ];
  const receipt = { metrics: plan.outputs.map((output) => output.receipt), notes: plan.notes };
  return { sql: lines.join('\n'), params: [], columns: columnsOf(plan), receipt };
}

function columnsOf(plan: Plan): readonly OutputColumn[] {
  return [
    ...plan.dimensions.map(({ name, type, grain, description }) => ({
      name,
      kind: 'dimension' as const,
      type,
      grain,
      unit: undefined,
      description,
    })),
    ...plan.outputs.map(({ name, unit, description }) => ({
      name,
      kind: 'metric' as const,
      type: undefined,
      grain: undefined,
      unit,
      description,
    })),
  ];
}

/** Lines are indented as wholes: a person's SQL inside one may hold text literals with line breaks of their own. */
interface CommonTable {
  readonly name: string;
  readonly lines: readonly string[];
}

/** The names have a space, so that no table of a warehouse is likely to be hidden behind one. */
const factName = 'ktx facts';
const mergedName = 'ktx result';

function commonTables(plan: Plan, dialect: Dialect): readonly CommonTable[] {
  const [block] = plan.blocks;
  if (block === undefined || plan.blocks.length > 1) throw new Error('a plan of several blocks cannot be emitted yet');
  const facts = { name: factName, lines: blockLines(block, dialect) };
  if (plan.members.length === 0) return [facts];
  const members = plan.members.map((member, index) => ({ name: `ktx members ${index + 1}`, lines: memberLines(member, dialect) }));
  return [facts, ...members, { name: mergedName, lines: mergeLines(plan, members, dialect) }];
}

function blockLines(block: Block, dialect: Dialect): readonly string[] {
  const quote = (name: string): string => dialect.quote(name);
  return [
    ...select([...block.dimensions, ...block.aggregates].map(({ expr, column }) => `${exprSql(expr, dialect)} AS ${quote(column)}`)),
    `FROM ${relationSql(block.relation, dialect)} AS ${quote(block.alias)}`,
    ...block.joins.map(
      (join) => `LEFT JOIN ${relationSql(join.relation, dialect)} AS ${quote(join.alias)} ON ${exprSql(join.on, dialect)}`,
    ),
    ...clause(
      'WHERE',
      block.where.map((condition) => exprSql(condition, dialect)),
      ' AND ',
    ),
    ...clause(
      'GROUP BY',
      block.dimensions.map((_, index) => String(index + 1)),
      ', ',
    ),
  ];
}

function relationSql(relation: Relation, dialect: Dialect): string {
  return relation.kind === 'table' ? relation.parts.map((part) => dialect.quote(part)).join('.') : `(\n${relation.sql}\n)`;
}

function memberLines(members: Members, dialect: Dialect): readonly string[] {
  if (members.kind === 'dataset') return blockLines(members.block, dialect);
  return [`SELECT DISTINCT ${members.columns.map((column) => dialect.quote(column)).join(', ')}`, `FROM ${dialect.quote(factName)}`];
}

/** A group of the facts meets its own member in one row; a member alone has counts of 0 and no other values. */
function mergeLines(plan: Plan, members: readonly CommonTable[], dialect: Dialect): readonly string[] {
  const dimensions = plan.dimensions.map(({ column }) => dialect.quote(column));
  const leaves = plan.leaves.map(({ column, isCount }) => ({ name: dialect.quote(column), isCount }));
  const nulls = leaves.map(() => 'NULL');
  return [
    ...select([
      ...dimensions,
      ...leaves.map(({ name, isCount }) => `${isCount ? `COALESCE(max(${name}), 0)` : `max(${name})`} AS ${name}`),
    ]),
    'FROM (',
    `  SELECT ${[...dimensions, ...leaves.map(({ name }) => name)].join(', ')} FROM ${dialect.quote(factName)}`,
    '  UNION ALL',
    `  SELECT ${[...dimensions, ...nulls].join(', ')} FROM ${members.map(({ name }) => dialect.quote(name)).join(' CROSS JOIN ')}`,
    `) AS ${dialect.quote('all')}`,
    `GROUP BY ${dimensions.join(', ')}`,
  ];
}

function select(items: readonly string[]): readonly string[] {
  const last = items.length - 1;
  return items.length === 1 ? [`SELECT ${items[0]}`] : ['SELECT', ...items.map((item, index) => `  ${item}${index < last ? ',' : ''}`)];
}

function clause(keyword: string, items: readonly string[], separator: string): readonly string[] {
  return items.length === 0 ? [] : [`${keyword} ${items.join(separator)}`];
}
