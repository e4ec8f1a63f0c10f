import { isRecord } from '../../lib/json.ts';
import { gateRefusal } from '../warehouse-error.ts';
import type { StatementFacts, UnresolvedTable } from './policy.ts';

export type TreeNode = Readonly<Record<string, unknown>>;

/** How one parser writes its syntax tree. */
export interface TreeReader {
  /** The key under which a query keeps its WITH clause. */
  readonly withKey: string;
  /** The CTEs of a WITH clause, in order. A recursive CTE sees itself. */
  readCtes(clause: TreeNode): readonly CteNode[];
  /** True if a recursive CTE also sees the CTEs after it. */
  readonly recursiveSeesLater: boolean;
  /** Folds a name the way the engine does before it compares names. */
  foldName(name: string): string;
  /** Reads one node. Throws `gate_refused` for a node that no query may contain. */
  readNode(node: TreeNode): NodeUse;
}

/** Values come straight from the parser's JSON and are checked by the walk. */
export interface NodeUse {
  /** The function that the node calls, or a list of functions. */
  readonly function?: unknown;
  /** The table that the node names. */
  readonly table?: { readonly [Part in keyof UnresolvedTable]?: unknown };
}

interface CteNode {
  readonly name: unknown;
  readonly body: unknown;
  readonly recursive: boolean;
}

/** Names of the CTEs that a node sees, folded. */
type VisibleCtes = ReadonlySet<string>;

/**
 * Beyond these limits engines plan for minutes and cannot be stopped, and this walk overflows the
 * stack.
 */
const maxCtes = 200;
const maxDepth = 2500;

/**
 * Collects functions and tables from any parser's tree. Each CTE sees the CTEs before it, a
 * recursive one itself as well, and the query sees all of them.
 */
export function collectStatementFacts(tree: unknown, reader: TreeReader): StatementFacts {
  const functions = new Set<string>();
  const tables: UnresolvedTable[] = [];
  let cteCount = 0;

  const visit = (value: unknown, visible: VisibleCtes, depth: number): void => {
    if (depth > maxDepth)
      throw gateRefusal(
        'parse',
        'it is nested or chained too deeply.',
        'Write a long chain as a list: IN (…), concat(…).',
      );
    if (Array.isArray(value)) for (const item of value) visit(item, visible, depth + 1);
    if (!isRecord(value)) return;
    const use = reader.readNode(value);
    for (const name of [use.function].flat())
      if (typeof name === 'string') functions.add(name.toLowerCase());
    const table = use.table === undefined ? undefined : tableName(use.table);
    if (table !== undefined && !isCte(table, visible)) tables.push(table);
    const clause = value[reader.withKey];
    const inner = isRecord(clause) ? visitCtes(clause, visible, depth) : visible;
    for (const [key, part] of Object.entries(value))
      if (key !== reader.withKey) visit(part, inner, depth + 1);
  };

  const isCte = ({ schema, table }: UnresolvedTable, visible: VisibleCtes): boolean =>
    schema === undefined && visible.has(reader.foldName(table));

  /** Visits the bodies of the CTEs; returns what the query that follows sees. */
  const visitCtes = (clause: TreeNode, outer: VisibleCtes, depth: number): VisibleCtes => {
    const ctes = reader
      .readCtes(clause)
      .map((cte) => ({ ...cte, name: reader.foldName(requireName(cte.name, 'CTE')) }));
    cteCount += ctes.length;
    if (cteCount > maxCtes) throw gateRefusal('parse', `it has more than ${maxCtes} CTEs.`);
    const all = new Set([...outer, ...ctes.map(({ name }) => name)]);
    let before = outer;
    for (const { name, body, recursive } of ctes) {
      const withItself = new Set([...before, name]);
      const visibleToRecursive = reader.recursiveSeesLater ? all : withItself;
      visit(body, recursive ? visibleToRecursive : before, depth);
      before = withItself;
    }
    return before;
  };

  visit(tree, new Set(), 0);
  return { functions: [...functions], tables };
}

/** The records in a value that should be a list of records; other values are skipped. */
export function recordsIn(value: unknown): readonly TreeNode[] {
  return Array.isArray(value) ? value.filter((item) => isRecord(item)) : [];
}

export function requireOneStatement<T>(statements: readonly T[]): T {
  const [first] = statements;
  if (first === undefined) throw gateRefusal('statement', 'the text has no statement.');
  if (statements.length > 1)
    throw gateRefusal('statement', `the text has ${statements.length} statements.`);
  return first;
}

/** For a statement that is no query; `kind` is what the parser calls it, such as `alter table`. */
export function otherStatementRefusal(kind: string) {
  const words = kind.toUpperCase();
  const article = /^[AEIOU]/.test(words) ? 'an' : 'a';
  return gateRefusal('statement', `it is ${article} ${words} statement, not a SELECT.`);
}

export function unlistedNodeRefusal(kind: string) {
  return gateRefusal('node', `a query may not contain ${kind.replaceAll('_', ' ')}.`);
}

function tableName({ catalog, schema, table }: NonNullable<NodeUse['table']>): UnresolvedTable {
  return {
    catalog: textOrUndefined(catalog),
    schema: textOrUndefined(schema),
    table: requireName(table, 'table'),
  };
}

function requireName(value: unknown, what: string): string {
  const name = textOrUndefined(value);
  if (name === undefined) throw gateRefusal('node', `a ${what} has no name.`);
  return name;
}

function textOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
