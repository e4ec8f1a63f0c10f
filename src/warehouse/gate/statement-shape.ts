import type { StatementFacts, UnresolvedTable } from './policy.ts';

/** A statement with its quoted names numbered: statements over other tables have it too. */
export interface StatementShape {
  /** The statement with `"quoted_0"`, `"quoted_1"` … in place of its quoted names. */
  readonly sql: string;
  /** The name behind each number. */
  readonly names: readonly string[];
}

/**
 * A text, or a quoted name of plain letters and dots that is not called like a function. Columns of
 * results are named `"orders.revenue"`.
 */
const quotedToken = /'[^'\\]*'|"([A-Za-z_][\w.]*)"(?!\s*[("])/g;
/** What could begin a comment, a parameter or a quote in some dialect. */
const unclear = /["'`\\[\]#$@?:{}]|--|\/\*|[^\t\n\r\x20-\x7e]|quoted_\d/i;

/**
 * The shape of a statement; undefined if a parser could take its names for more than names, or for
 * one name in two spellings.
 */
export function shapeOf(sql: string): StatementShape | undefined {
  const numbers = new Map<string, number>();
  const names: string[] = [];
  let isClear = true;
  const text = sql.replaceAll(quotedToken, (token, name: string | undefined) => {
    if (name === undefined) return token;
    const folded = name.toLowerCase();
    const number = numbers.get(folded) ?? names.push(name) - 1;
    numbers.set(folded, number);
    if (names[number] !== name || unclear.test(name)) isClear = false;
    return `"quoted_${number}"`;
  });
  if (!isClear || unclear.test(sql.replaceAll(quotedToken, ' '))) return undefined;
  return { sql: text, names };
}

/** The facts of a shape, with the names of the statement. */
export function withNames(facts: StatementFacts, names: readonly string[]): StatementFacts {
  const named = (text: string): string => {
    const [, number] = /^quoted_(\d+)$/.exec(text) ?? [];
    return number === undefined ? text : (names[Number(number)] ?? text);
  };
  const partNamed = (text: string | undefined) => (text === undefined ? undefined : named(text));
  const tables = facts.tables.map(({ catalog, schema, table }): UnresolvedTable => ({
    catalog: partNamed(catalog),
    schema: partNamed(schema),
    table: named(table),
  }));
  return { functions: facts.functions.map((name) => named(name).toLowerCase()), tables };
}
