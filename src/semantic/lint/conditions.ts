import { isRecord } from '../../lib/json.ts';
import { asNode, isWithin, parseSql, type Span, type SqlNode } from '../../sql/analyzer.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { Fragment } from '../../sql/fragment.ts';
import { columnIdentity, type ModelDataset } from '../model/model.ts';
import { findColumn, type SelectScope } from './scopes.ts';
import { originOf } from './traces.ts';

export interface WantedFilter {
  readonly text: string;
  /** The column that it is about, and the values that it allows; undefined for other conditions. */
  readonly allowed: { readonly column: string; readonly values: readonly string[] } | undefined;
}

/** Undefined for a filter on another dataset: statements can state it in many ways. */
export function parseFilter(
  text: string,
  dataset: ModelDataset,
  dialect: Dialect,
): WantedFilter | undefined {
  const [statement] = parseSql(`SELECT 1 FROM ktx WHERE ${text}`, dialect);
  const where = statement?.body['where_clause'];
  const condition: unknown =
    typeof where === 'object' && where !== null && 'this' in where ? where.this : undefined;
  const columns = [...columnsOf(condition)];
  if (columns.some(({ body }) => body['table'] !== null && body['table'] !== undefined))
    return undefined;
  const given = allowedValues(condition);
  const named = conditionText(undefined, condition);
  const column = given && (JSON.parse(conditionText(undefined, given.column)) as string);
  return {
    text: columns.reduce((result, node) => {
      const name = JSON.parse(conditionText(undefined, { column: node.body })) as string;
      return result.replaceAll(
        JSON.stringify(name),
        JSON.stringify(columnIdentity(dataset, name).toLowerCase()),
      );
    }, named),
    allowed:
      given === undefined || column === undefined
        ? undefined
        : { column: columnIdentity(dataset, column).toLowerCase(), values: given.values },
  };
}

function* columnsOf(value: unknown): Generator<SqlNode> {
  if (typeof value !== 'object' || value === null) return;
  const node = asNode(value);
  if (node?.kind === 'column') yield node;
  for (const child of Object.values(node?.body ?? value)) yield* columnsOf(child);
}

/** The conditions that contain no parameter. */
export function fixedConditions(where: Fragment | undefined): readonly string[] {
  if (where === undefined) return [];
  const hasParameter = (condition: Span) =>
    where.parameters?.some((parameter) => isWithin(parameter, condition)) === true;
  return where.conjuncts
    .filter((condition) => !hasParameter(condition))
    .map(({ start, end }) => where.text.slice(start, end));
}

/** The column that a condition is about, and the values that it allows; undefined for others. */
export function allowedValues(
  condition: unknown,
): { readonly column: unknown; readonly values: readonly string[] } | undefined {
  const node = asNode(condition);
  if (node === undefined) return undefined;
  const { this: inner } = node.body;
  if (node.kind === 'paren') return allowedValues(inner);
  if (node.kind === 'column') return { column: condition, values: ['true'] };
  if (node.kind === 'not' && asNode(inner)?.kind === 'column')
    return { column: inner, values: ['false'] };
  if (node.kind === 'eq') return allowedByEquality(node);
  return node.kind === 'in' && node.body['not'] !== true ? allowedByList(node) : undefined;
}

function allowedByEquality({ body: { left, right } }: SqlNode): ReturnType<typeof allowedValues> {
  const [column, literal] = asNode(left)?.kind === 'column' ? [left, right] : [right, left];
  const value = literalText(literal);
  return asNode(column)?.kind === 'column' && value !== undefined
    ? { column, values: [value] }
    : undefined;
}

function allowedByList({ body }: SqlNode): ReturnType<typeof allowedValues> {
  const list = Array.isArray(body['expressions']) ? body['expressions'] : [];
  const values = list.map(literalText);
  const known = values.filter((value) => value !== undefined);
  const areLiterals = known.length > 0 && known.length === values.length;
  return areLiterals && asNode(body['this'])?.kind === 'column'
    ? { column: body['this'], values: known }
    : undefined;
}

function literalText(value: unknown): string | undefined {
  const node = asNode(value);
  if (node?.kind === 'literal') {
    const text: unknown = node.body['value'];
    return typeof text === 'string' ? text : undefined;
  }
  if (node?.kind === 'boolean') return node.body['value'] === true ? 'true' : 'false';
  return undefined;
}

/** Text that is equal for conditions that differ only in spaces, case and qualifiers. */
export function conditionText(scope: SelectScope | undefined, condition: unknown): string {
  const shape = (value: unknown): unknown => {
    const node = asNode(value);
    if (node?.kind === 'paren') return shape(node.body['this']);
    if (node?.kind === 'column') return columnText(scope, node, value);
    if (Array.isArray(value)) return value.map(shape);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(node?.body ?? value).filter(([key]) => key !== 'span');
    return {
      kind: node?.kind,
      ...Object.fromEntries(entries.map(([key, part]) => [key, shape(part)])),
    };
  };
  return JSON.stringify(shape(condition));
}

function columnText(scope: SelectScope | undefined, node: SqlNode, value: unknown): string {
  const origin = scope && originOf(scope, value);
  if (origin !== undefined) return origin.column;
  const column = scope && findColumn(value, scope.sources);
  return column?.name.toLowerCase() ?? nameOf(node);
}

function nameOf({ body }: SqlNode): string {
  const name = isRecord(body['name']) ? body['name']['name'] : undefined;
  return typeof name === 'string' ? name.toLowerCase() : '';
}
