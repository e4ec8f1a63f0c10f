/** The tables of one name that differ by a number or a date: `event_2023`, `event_2024`. */
export interface Partition {
  /** The name without the number; equal for all parts of a table. */
  readonly stem: string;
  /** What tells the part from the others. */
  readonly suffix: string;
  /** True if the whole table exists too, under the name without the number. */
  readonly hasWhole: boolean;
}

interface NamedColumns {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly nativeType: string }[];
}

const numbered =
  /^(?<stem>.*?\p{L})(?<suffix>_?(?:p|y|part)?_?\d{1,8}(?:_?[mqwd]?\d{1,2}){0,2})$/iu;

/** Equal for a table and its parts: the name without a number, and the columns. */
export const stemOf = (name: string, { schema, columns }: NamedColumns): string =>
  JSON.stringify([schema, name, columns.map((column) => [column.name, column.nativeType])]);

/**
 * The tables that are parts of one table, by their position in the list: their names differ by a
 * number or a date only, and their columns are the same.
 */
export function findPartitions(tables: readonly NamedColumns[]): ReadonlyMap<number, Partition> {
  const wholes = new Set(tables.map((table) => stemOf(table.table.toLowerCase(), table)));
  const parts = tables.flatMap((table, index) => {
    const { stem, suffix } = numbered.exec(table.table.toLowerCase())?.groups ?? {};
    if (stem === undefined || suffix === undefined) return [];
    const key = stemOf(stem, table);
    return [{ index, key, part: { stem: key, suffix, hasWhole: wholes.has(key) } }];
  });
  const groups = Map.groupBy(parts, ({ key }) => key);
  const isPart = ({ key, part }: (typeof parts)[number]): boolean =>
    part.hasWhole || (groups.get(key)?.length ?? 0) > 1;
  return new Map(parts.filter(isPart).map(({ index, part }) => [index, part]));
}
