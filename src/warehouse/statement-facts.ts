import { isRecord } from '../lib/json.ts';
import type { StatementFacts, WrittenTable } from './driver.ts';
import { refused } from './failure.ts';

type Node = Readonly<Record<string, unknown>>;

/** How one parser writes its tree. */
export interface TreeReading {
  /** The key under which a query keeps its CTEs, and what stands there; a recursive CTE sees itself. */
  readonly withKey: string;
  ctes(
    clause: Node,
  ): readonly { readonly name: unknown; readonly body: unknown; readonly recursive: boolean }[];
  /** True where a recursive CTE sees those after it too. */
  readonly looksAhead: boolean;
  /** Folds a name as the engine compares it. */
  fold(name: string): string;
  /** The function (or list of them) that a node calls, the table that it names; throws `gate_refused` for what no query may contain. */
  use(node: Node): {
    readonly function?: unknown;
    readonly table?: { readonly [Part in keyof WrittenTable]?: unknown };
  };
}

/** Beyond, engines take minutes to plan where they cannot be stopped, and this walk runs out of stack. */
const [mostCtes, deepest] = [200, 2500];

/** One walk for every parser's tree: each CTE sees those before it, a recursive one itself, the query all of them. */
export function statementFacts(tree: unknown, reading: TreeReading): StatementFacts {
  const functions = new Set<string>();
  const tables: WrittenTable[] = [];
  let cteCount = 0;
  const scopeOf = (
    clause: Node,
    outer: ReadonlySet<string>,
    depth: number,
  ): ReadonlySet<string> => {
    const entries = reading
      .ctes(clause)
      .map((entry) => ({ ...entry, name: reading.fold(named(entry.name, 'CTE')) }));
    cteCount += entries.length;
    if (cteCount > mostCtes) throw refused('parse', `more than ${mostCtes} CTEs.`);
    const all = new Set([...outer, ...entries.map(({ name }) => name)]);
    let inner = outer;
    for (const { name, body, recursive } of entries) {
      const after = new Set([...inner, name]);
      const own = reading.looksAhead ? all : after;
      visit(body, recursive ? own : inner, depth);
      inner = after;
    }
    return inner;
  };
  const visit = (value: unknown, scope: ReadonlySet<string>, depth: number): void => {
    if (depth > deepest)
      throw refused(
        'parse',
        'it is nested or chained too deeply.',
        'Write a long chain as a list: IN (…), concat(…).',
      );
    if (Array.isArray(value)) for (const item of value) visit(item, scope, depth + 1);
    if (!isRecord(value)) return;
    const used = reading.use(value);
    for (const called of [used.function].flat())
      if (typeof called === 'string') functions.add(called.toLowerCase());
    if (used.table !== undefined) {
      const written = {
        catalog: nameOf(used.table.catalog),
        schema: nameOf(used.table.schema),
        table: named(used.table.table, 'table'),
      };
      if (written.schema !== undefined || !scope.has(reading.fold(written.table)))
        tables.push(written);
    }
    const clause = value[reading.withKey];
    const inner = isRecord(clause) ? scopeOf(clause, scope, depth) : scope;
    for (const [key, part] of Object.entries(value))
      if (key !== reading.withKey) visit(part, inner, depth + 1);
  };
  visit(tree, new Set(), 0);
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
  if (statements.length > 1)
    throw refused('statement', `${statements.length} statements in one text.`);
  return first;
}

export function notListed(kind: string) {
  return refused(
    'node',
    `${kind.replaceAll('_', ' ')} is not on the list of what a query may contain.`,
  );
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function named(value: unknown, what: string): string {
  const name = nameOf(value);
  if (name === undefined) throw refused('node', `a ${what} without a name.`);
  return name;
}
