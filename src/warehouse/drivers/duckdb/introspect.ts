import type { ColumnSchema, ForeignKey, Scope, TableSchema, WarehouseSchema } from '../../warehouse.ts';
import { checkValues } from '../../check-values.ts';
import { fieldType } from './values.ts';

type Ask = (sql: string) => Promise<readonly Record<string, unknown>[]>;

const here = 'database_name = current_database() AND NOT internal';
const tablesSql = `SELECT schema_name, table_name, comment, estimated_size, 'table' AS kind FROM duckdb_tables() WHERE ${here} AND NOT temporary
  UNION ALL SELECT schema_name, view_name, comment, NULL, 'view' FROM duckdb_views() WHERE ${here} AND NOT temporary ORDER BY 1, 2`;
const columnsSql = `SELECT schema_name, table_name, column_name, data_type, is_nullable, comment FROM duckdb_columns() WHERE ${here} ORDER BY 1, 2, column_index`;
const constraintsSql = `SELECT schema_name, table_name, constraint_type, constraint_text, constraint_column_names::JSON AS columns, referenced_table,
  referenced_column_names::JSON AS target_columns FROM duckdb_constraints() WHERE database_name = current_database() ORDER BY 1, 2, constraint_index`;
const indexesSql = `SELECT schema_name, table_name, expressions FROM duckdb_indexes() WHERE database_name = current_database() AND is_unique ORDER BY 1, 2, index_name`;

type Named = { schema_name: string; table_name: string };
type TableRow = Named & { comment: string | null; estimated_size: bigint | null; kind: 'table' | 'view' };
type ColumnRow = Named & { column_name: string; data_type: string; is_nullable: boolean; comment: string | null };
type ConstraintRow = Named & {
  constraint_type: string;
  constraint_text: string;
  columns: string;
  referenced_table: string | null;
  target_columns: string;
};

export interface IntrospectOptions {
  readonly scope: Scope;
  readonly marker: (table: string) => string | undefined;
}

/** Four statements, whatever the number of tables. */
export async function introspectDuckdb(ask: Ask, { scope, marker }: IntrospectOptions): Promise<WarehouseSchema> {
  const tables = (await ask(tablesSql)) as unknown as TableRow[];
  const columns = Map.groupBy((await ask(columnsSql)) as unknown as ColumnRow[], keyOf);
  const constraints = Map.groupBy((await ask(constraintsSql)) as unknown as ConstraintRow[], keyOf);
  const indexes = Map.groupBy((await ask(indexesSql)) as unknown as (Named & { expressions: string })[], keyOf);
  const wanted = tables.filter((table) => scope.schemas?.includes(table.schema_name) ?? true);
  const result = wanted.map((table): TableSchema => {
    const own = constraints.get(keyOf(table)) ?? [];
    const values = new Map(own.flatMap((row) => [...checkValues(row.constraint_text)]));
    const indexed = (indexes.get(keyOf(table)) ?? []).map(({ expressions }) => indexColumns(expressions));
    return {
      schema: table.schema_name,
      table: table.table_name,
      kind: table.kind,
      comment: table.comment ?? undefined,
      columns: (columns.get(keyOf(table)) ?? []).map((column) => columnOf(column, values)),
      primaryKey: keysOf(own, 'PRIMARY KEY')[0],
      uniqueKeys: [...keysOf(own, 'UNIQUE'), ...indexed.filter((key) => key !== undefined)],
      foreignKeys: own.flatMap(foreignKey),
      marker: table.kind === 'table' ? marker(table.table_name) : undefined,
      rowEstimate: table.estimated_size === null ? undefined : Number(table.estimated_size),
    };
  });
  return { tables: result, queries: 4 };
}

function keyOf({ schema_name: schema, table_name: table }: Named): string {
  return JSON.stringify([schema, table]);
}

function columnOf(row: ColumnRow, checked: ReadonlyMap<string, readonly string[]>): ColumnSchema {
  const isEnum = row.data_type.startsWith('ENUM(');
  return {
    name: row.column_name,
    nativeType: row.data_type,
    type: fieldType(row.data_type),
    nullable: row.is_nullable,
    comment: row.comment ?? undefined,
    values: isEnum
      ? [...row.data_type.matchAll(/'((?:[^']|'')*)'/g)].map(([, value = '']) => value.replaceAll("''", "'"))
      : checked.get(row.column_name),
  };
}

function keysOf(rows: readonly ConstraintRow[], type: string): string[][] {
  return rows.filter(({ constraint_type: own }) => own === type).map(({ columns }) => JSON.parse(columns) as string[]);
}

/** DuckDB's foreign keys stay within one schema. */
function foreignKey(row: ConstraintRow): ForeignKey[] {
  if (row.constraint_type !== 'FOREIGN KEY' || row.referenced_table === null) return [];
  const table = { schema: row.schema_name, table: row.referenced_table };
  return [
    {
      columns: JSON.parse(row.columns) as string[],
      to: { table, columns: JSON.parse(row.target_columns) as string[] },
    },
  ];
}

/** `[a, "b c"]`; undefined where a part is more than a column. */
function indexColumns(expressions: string): string[] | undefined {
  const parts = expressions.replace(/^\[|\]$/g, '').match(/'?"(?:[^"]|"")+"'?|[^,\s]+/g) ?? [];
  const names = parts.map((part) => part.replace(/^'?"(.*)"'?$/, '$1').replaceAll('""', '"'));
  return parts.every((part) => /^'?"|^\w+$/.test(part)) && names.length > 0 ? names : undefined;
}
