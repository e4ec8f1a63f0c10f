import { fullTableName, sameTable, type Dialect, type TableRef } from '../../sql/dialect.ts';
import type { QueryRows } from '../driver.ts';
import type { Cell, TableSchema } from '../warehouse.ts';
import type { CatalogStatement } from './parse.ts';

type StatementOnTable = Exclude<CatalogStatement, { kind: 'tables' | 'schemas' }>;

interface DescribedCatalog {
  readonly dialect: Dialect;
  readonly tables: readonly TableSchema[];
  /** Throws if there is no such table in the scope of the connection. */
  readonly find: (statement: StatementOnTable) => Promise<TableRef>;
}

/** Answers from the tables in scope, with the same columns on every engine. */
export async function answerFromCatalog(
  statement: CatalogStatement,
  { dialect, tables, find }: DescribedCatalog,
): Promise<QueryRows> {
  if (!('table' in statement)) return listNames(statement, tables);
  const found = await find(statement);
  const table = tables.find((candidate) => sameTable(candidate, found));
  if (table === undefined) throw new Error(`the catalog has no table ${found.table}`);
  if (statement.kind === 'keys') return textRows(['key', 'columns', 'references'], keyRows(table));
  if (statement.kind === 'create') {
    const text = createStatement(table, dialect);
    return textRows(['table_name', 'create_statement'], [[table.table, text]]);
  }
  const rows = table.columns.map(({ name, nativeType, nullable, comment }) => [
    name,
    nativeType,
    nullable ? 'YES' : 'NO',
    keyOf(table, name),
    comment,
  ]);
  const columns = ['column_name', 'column_type', 'null', 'key', 'comment'];
  return textRows(columns, matching(rows, statement.like));
}

function listNames(
  { kind, like }: Extract<CatalogStatement, { kind: 'tables' | 'schemas' }>,
  tables: readonly TableSchema[],
): QueryRows {
  if (kind === 'tables') {
    const rows = tables.map((table) => [table.table, table.schema, table.kind, table.comment]);
    return textRows(['table_name', 'table_schema', 'table_type', 'comment'], matching(rows, like));
  }
  const schemas = [...new Set(tables.map(({ schema }) => schema))].sort();
  const rows = schemas.map((schema) => [schema]);
  return textRows(['schema_name'], matching(rows, like));
}

type TextRow = readonly (string | undefined)[];

function textRows(names: readonly string[], rows: readonly TextRow[]): QueryRows {
  return {
    columns: names.map((name) => ({ name, type: 'string' })),
    rows: rows.map((row) => row.map((cell): Cell => cell ?? null)),
    truncated: false,
  };
}

/** The rows whose first cell matches a LIKE pattern, without case. */
function matching(rows: readonly TextRow[], pattern: string | undefined): readonly TextRow[] {
  if (pattern === undefined) return rows;
  return rows.filter(([first = '']) => isLike(first.toLowerCase(), pattern.toLowerCase()));
}

/** Takes time in proportion to both lengths, whatever the pattern. */
function isLike(text: string, pattern: string): boolean {
  let ends = new Set([0]);
  for (const character of pattern) {
    const next = new Set<number>();
    for (const end of ends)
      if (character !== '%' && (character === '_' || text[end] === character)) next.add(end + 1);
    const first = Math.min(...ends);
    if (character === '%') for (let end = first; end <= text.length; end += 1) next.add(end);
    ends = new Set([...next].filter((end) => end <= text.length));
    if (ends.size === 0) return false;
  }
  return ends.has(text.length);
}

function keyOf({ primaryKey, uniqueKeys, foreignKeys }: TableSchema, column: string) {
  if (primaryKey?.includes(column) === true) return 'PRI';
  if (uniqueKeys.some((key) => key.length === 1 && key[0] === column)) return 'UNI';
  return foreignKeys.some(({ columns }) => columns.includes(column)) ? 'FOR' : undefined;
}

function keyRows({ primaryKey, uniqueKeys, foreignKeys }: TableSchema): readonly TextRow[] {
  const list = (columns: readonly string[]): string => columns.join(', ');
  return [
    ...(primaryKey === undefined ? [] : [['PRIMARY KEY', list(primaryKey), undefined]]),
    ...uniqueKeys.map((columns) => ['UNIQUE', list(columns), undefined]),
    ...foreignKeys.map(({ columns, to }) => [
      'FOREIGN KEY',
      list(columns),
      `${fullTableName(to.table)} (${list(to.columns)})`,
    ]),
  ];
}

/**
 * A statement that would make such a table. It has no defaults, checks and indexes, which the
 * catalog does not keep.
 */
function createStatement(table: TableSchema, dialect: Dialect): string {
  const quote = (name: string): string => dialect.quote(name);
  const list = (columns: readonly string[]): string =>
    columns.map((name) => quote(name)).join(', ');
  const fullName = ({ catalog, schema, table: name }: TableRef): string =>
    [...(catalog === undefined ? [] : [catalog]), schema, name].map(quote).join('.');
  const lines = [
    ...table.columns.map(
      ({ name, nativeType, nullable }) =>
        `${quote(name)} ${nativeType}${nullable ? '' : ' NOT NULL'}`,
    ),
    ...(table.primaryKey === undefined ? [] : [`PRIMARY KEY (${list(table.primaryKey)})`]),
    ...table.uniqueKeys.map((columns) => `UNIQUE (${list(columns)})`),
    ...table.foreignKeys.map(
      ({ columns, to }) =>
        `FOREIGN KEY (${list(columns)}) REFERENCES ${fullName(to.table)} (${list(to.columns)})`,
    ),
  ];
  return `CREATE TABLE ${fullName(table)} (\n  ${lines.join(',\n  ')}\n)`;
}
