import type { CommonTable } from '../../relational/query-tree.ts';

/** Gives the tables other names, and each reference to them too. */
export function renameTables(
  tables: readonly CommonTable[],
  rename: (name: string) => string,
): readonly CommonTable[] {
  const names = new Map(tables.map(({ name }) => [name, rename(name)]));
  return tables.map((table) => renamed(table, names));
}

/** Properties that hold the name of a common table, or an alias that equals it. */
const nameKeys: ReadonlySet<string> = new Set(['name', 'alias', 'table']);

/** A copy; rows of row rules and errors stay the same objects, which receipts look for. */
function renamed<Value>(value: Value, names: ReadonlyMap<string, string>): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => renamed(item, names)) as Value;
  if ('kind' in value && value.kind === 'guarded') return value;
  const entries = Object.entries(value).map(([key, child]: [string, unknown]) => [
    key,
    typeof child === 'string' && nameKeys.has(key)
      ? (names.get(child) ?? child)
      : renamed(child, names),
  ]);
  return Object.fromEntries(entries) as Value;
}
