import { isRecord } from '../sql/analyzer.ts';
import type { StatementFacts, WrittenTable } from './driver.ts';
import { refused } from './failure.ts';

type Node = Readonly<Record<string, unknown>>;

/** How one parser writes its tree. */
export interface TreeReading {
  /** The key under which a query keeps its CTEs, and what stands there; a recursive CTE sees itself. */
  readonly withKey: string;
  ctes(clause: Node): readonly { readonly name: unknown; readonly body: unknown; readonly recursive: boolean }[];
  /** Folds a name as the engine compares it. */
  fold(name: string): string;
  /** The function (or list of them) that a node calls, the table that it names; throws `gate_refused` for what no query may contain. */
  use(node: Node): { readonly function?: unknown; readonly table?: { readonly [Part in keyof WrittenTable]?: unknown } };
}

/** One walk for every parser's tree: each CTE sees those before it, a recursive one itself, the query all of them. */
export function statementFacts(tree: unknown, reading: TreeReading): StatementFacts {
  const functions = new Set<string>();
  const tables: WrittenTable[] = [];
  const visit = (value: unknown, scope: ReadonlySet<string>): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, scope);
    if (!isRecord(value)) return;
    const used = reading.use(value);
    for (const called of [used.function].flat()) if (typeof called === 'string') functions.add(called.toLowerCase());
    if (used.table !== undefined) {
      const written = { catalog: nameOf(used.table.catalog), schema: nameOf(used.table.schema), table: named(used.table.table, 'table') };
      if (written.schema !== undefined || !scope.has(reading.fold(written.table))) tables.push(written);
    }
    const clause = value[reading.withKey];
    let inner = scope;
    for (const { name, body, recursive } of isRecord(clause) ? reading.ctes(clause) : []) {
      const after = new Set([...inner, reading.fold(named(name, 'CTE'))]);
      visit(body, recursive ? after : inner);
      inner = after;
    }
    for (const [key, part] of Object.entries(value)) if (key !== reading.withKey) visit(part, inner);
  };
  visit(tree, new Set());
  return { functions: [...functions], tables };
}

/** The elements of what should be a list of records. */
export function recordsOf(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter((item) => isRecord(item)) : [];
}

/** Refuses anything but one statement. */
export function onlyOne<T>(statements: readonly T[]): T {
  const [first] = statements;
  if (first === undefined) throw refused('statement', 'there is no statement.');
  if (statements.length > 1) throw refused('statement', `${statements.length} statements in one text.`);
  return first;
}

export function notListed(kind: string) {
  return refused('node', `${kind.replaceAll('_', ' ')} is not on the list of what a query may contain.`);
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function named(value: unknown, what: string): string {
  const name = nameOf(value);
  if (name === undefined) throw refused('node', `a ${what} without a name.`);
  return name;
}
