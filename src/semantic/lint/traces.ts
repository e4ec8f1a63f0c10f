import { asNode, type SqlNode } from '../../sql/analyzer.ts';
import { isRecord } from '../../lib/json.ts';
import type { ModelDataset } from '../model/model.ts';
import { findMultiplying, identityOf } from './repeated-rows.ts';
import { findColumn, nodesOfSelect, type SelectScope, type TableColumn } from './scopes.ts';

/** A column of a dataset, and the SELECTs that its values pass through, the outermost first. */
export interface Trace {
  readonly steps: readonly { readonly scope: SelectScope; readonly alias: string }[];
  /** Undefined for a column of a query that groups its rows, or of an unknown table. */
  readonly origin: { readonly dataset: ModelDataset; readonly column: string } | undefined;
  /** Conditions of CASE that decide which values count. */
  readonly conditions: readonly ScopedCondition[];
  /** True if the value is the column itself, or a multiple of it. */
  readonly isExact: boolean;
}

export interface ScopedCondition {
  readonly scope: SelectScope;
  readonly condition: unknown;
}

/**
 * Where the values of an aggregate come from: the source whose rows it adds up, if it uses columns
 * of several. Undefined if it uses none, or none that decides.
 */
export function traceValue(scope: SelectScope, value: unknown): Trace | undefined {
  const { columns, conditions, isExact } = valueColumns(scope, value);
  const aliases = [...new Set(columns.map(({ alias }) => alias))];
  const alias = finestOf(scope, aliases);
  if (alias === undefined) return undefined;
  const own = columns.filter((column) => column.alias === alias);
  const source = scope.sources.get(alias);
  const step = { scope, alias };
  if (source?.kind === 'dataset') {
    const [column, ...others] = new Set(own.map((reference) => identityOf(scope, reference)));
    const isOne = others.length === 0 && aliases.length === 1;
    const origin = column === undefined ? undefined : { dataset: source.dataset, column };
    return { steps: [step], origin, conditions, isExact: isExact && isOne };
  }
  if (source?.kind !== 'query' || !source.scope.isPlain)
    return { steps: [step], origin: undefined, conditions, isExact: false };
  const [first, ...others] = new Set(own.map(({ name }) => name.toLowerCase()));
  const inner = traceValue(source.scope, source.scope.outputs.get(first ?? ''));
  if (inner === undefined) return { steps: [step], origin: undefined, conditions, isExact: false };
  return {
    ...inner,
    steps: [step, ...inner.steps],
    conditions: [...conditions, ...inner.conditions],
    isExact: isExact && inner.isExact && others.length === 0 && aliases.length === 1,
  };
}

/** The alias from which all others are reached without repeating its rows. */
function finestOf(scope: SelectScope, aliases: readonly string[]): string | undefined {
  const [only, ...others] = aliases;
  if (others.length === 0) return only;
  const reaching = aliases.filter((alias) => {
    const multiplying = findMultiplying(scope, alias);
    return multiplying === undefined || !aliases.includes(multiplying);
  });
  // Of two that repeat each other, the rows of both count more than once.
  return reaching.length < 2 ? (reaching[0] ?? only) : undefined;
}

/** The columns that a value is made of. Those in conditions of CASE only say whether it counts. */
function valueColumns(scope: SelectScope, value: unknown) {
  const columns: TableColumn[] = [];
  const conditions: ScopedCondition[] = [];
  let isExact = true;
  const visit = (part: unknown): void => {
    const node = asNode(part);
    if (node?.kind === 'column') {
      const column = findColumn(part, scope.sources);
      if (column === undefined) isExact = false;
      else columns.push(column);
      return;
    }
    if (node?.kind === 'case') {
      const { branches, otherwise } = caseParts(node);
      if (branches.length === 1) conditions.push({ scope, condition: branches[0]?.condition });
      else isExact = false;
      for (const branch of branches) visit(branch.value);
      visit(otherwise);
      return;
    }
    if (node !== undefined && !scaling.includes(node.kind)) isExact = false;
    for (const child of Object.values(node?.body ?? childrenOf(part))) visit(child);
  };
  visit(value);
  return { columns, conditions, isExact };
}

const scaling = [
  'paren',
  'mul',
  'div',
  'neg',
  'literal',
  'cast',
  'column',
  'data_type',
  'coalesce',
];

function childrenOf(part: unknown): object {
  return typeof part === 'object' && part !== null ? part : {};
}

function caseParts({ body }: SqlNode): {
  readonly branches: readonly { readonly condition: unknown; readonly value: unknown }[];
  readonly otherwise: unknown;
} {
  const whens = Array.isArray(body['whens']) ? body['whens'] : [];
  const branches = whens.flatMap((branch: unknown) =>
    Array.isArray(branch) ? [{ condition: branch[0] as unknown, value: branch[1] as unknown }] : [],
  );
  const otherwise = ['else_', 'else', 'default'].map((key) => body[key]).find(isRecord);
  return { branches, otherwise };
}

/** The dataset's column that an expression is; undefined if it is more than a column. */
export function originOf(scope: SelectScope, expression: unknown): Trace['origin'] {
  const node = asNode(expression);
  if (node?.kind === 'paren') return originOf(scope, node.body['this']);
  const column = findColumn(expression, scope.sources);
  const source = column && scope.sources.get(column.alias);
  if (column === undefined || source === undefined) return undefined;
  if (source.kind === 'dataset')
    return { dataset: source.dataset, column: identityOf(scope, column) };
  if (source.kind !== 'query') return undefined;
  return originOf(source.scope, source.scope.outputs.get(column.name.toLowerCase()));
}

/** True if an aggregate is a window function: it keeps the rows. */
export function windowCalls(scope: SelectScope): ReadonlySet<unknown> {
  const parts = [scope.node.body['expressions']];
  return new Set(
    [...nodesOfSelect(parts)]
      .filter(({ kind }) => kind === 'window_function')
      .map(({ body }) => asNode(body['this'])?.body),
  );
}
