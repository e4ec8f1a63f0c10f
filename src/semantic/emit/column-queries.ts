import type { Dialect } from '../../sql/dialect.ts';

interface ColumnOfTable {
  readonly table: string;
  readonly column: string;
}

/** Some engines take the type of a union's column from each part, so a bare NULL is not enough. */
export function typedNullSql({ table, column }: ColumnOfTable, dialect: Dialect): string {
  if (!dialect.nullsNeedType) return 'NULL';
  return `(SELECT ${dialect.quote(column)} FROM ${dialect.quote(table)} WHERE 1 = 0)`;
}

/** The greatest value of the column, in all rows of the table. */
export function greatestSql({ table, column }: ColumnOfTable, dialect: Dialect): string {
  return `(SELECT max(${dialect.quote(column)}) FROM ${dialect.quote(table)})`;
}
