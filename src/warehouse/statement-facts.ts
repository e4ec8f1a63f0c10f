import { isRecord } from '../sql/analyzer.ts';
import type { StatementFacts, WrittenTable } from './driver.ts';
import { refused } from './failure.ts';

type Node = Readonly<Record<string, unknown>>;

export interface Cte {
  readonly name: unknown;
  readonly body: unknown;
  /** It sees itself. */
  readonly recursive: boolean;
}

/** How one parser writes its tree. */
export interface TreeReading {
  /** The key under which a query keeps its CTEs, and what stands there. */
  readonly withKey: string;
  ctes(clause: Node): readonly Cte[];
  /** Folds a name as the engine compares it. */
  fold(name: string): string;
  /** Throws `gate_refused` for what no query may contain; notes functions and tables. */
  check(node: Node, found: Found): void;
}

export interface Found {
  function(name: string): void;
  /** Left out where the name is that of a CTE in scope. */
  table(table: { catalog?: unknown; schema?: unknown; table: unknown }): void;
}

/** One walk for every parser's tree: each CTE sees those before it, a recursive one itself, the query all of them. */
export function statementFacts(tree: unknown, reading: TreeReading): StatementFacts {
  const functions = new Set<string>();
  const tables: WrittenTable[] = [];
  const foundIn = (scope: ReadonlySet<string>): Found => ({
    function: (name) => functions.add(name.toLowerCase()),
    table: (parts) => {
      const [catalog, schema, table] = [nameOf(parts.catalog), nameOf(parts.schema), nameOf(parts.table)];
      if (table === undefined) throw refused('node', 'a table without a name.');
      if (schema !== undefined || !scope.has(reading.fold(table))) tables.push({ catalog, schema, table });
    },
  });
  const visit = (value: unknown, scope: ReadonlySet<string>): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, scope);
    if (!isRecord(value)) return;
    reading.check(value, foundIn(scope));
    const clause = value[reading.withKey];
    let inner = scope;
    for (const cte of isRecord(clause) ? reading.ctes(clause) : []) {
      const name = nameOf(cte.name);
      if (name === undefined) throw refused('node', 'a CTE without a name.');
      const after = new Set([...inner, reading.fold(name)]);
      visit(cte.body, cte.recursive ? after : inner);
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

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
