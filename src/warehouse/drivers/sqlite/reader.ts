import { constants, DatabaseSync } from 'node:sqlite';
import type { FieldType } from '../../../sql/field-type.ts';
import type { Cell } from '../../warehouse.ts';
import { integerCell } from '../../driver.ts';
import { registerFunctions } from './aggregates.ts';
import { sqliteFunctions, sqliteTableFunctions } from './functions.ts';
import { declaredType } from './types.ts';

export interface ReadResult {
  readonly columns: { readonly name: string; readonly type: FieldType }[];
  readonly rows: Cell[][];
  readonly truncated: boolean;
}

export interface Reader {
  /** User text: the authorizer lets only reads of tables and listed functions pass. */
  query(sql: string, maxRows: number): ReadResult;
  /** ktx's own text over the system's tables. */
  introspect(sql: string): Record<string, unknown>[];
}

/** Opens the file read-only with ktx's aggregates and the authorizer. `extraFunctions`: names that the configuration allows. */
export function openReader(path: string, extraFunctions: readonly string[]): Reader {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  registerFunctions(db);
  const functions = new Set([...sqliteFunctions, ...extraFunctions.map((name) => name.toLowerCase())]);
  const tables = new Set<string>();
  const introspect = (sql: string): Record<string, unknown>[] => {
    db.setAuthorizer(null);
    return db.prepare(sql).all();
  };
  return {
    introspect,
    query(sql, maxRows) {
      tables.clear();
      for (const { name } of introspect(`SELECT name FROM pragma_table_list WHERE schema = 'main'`)) tables.add(folded(name));
      db.setAuthorizer(authorizer(functions, tables));
      const statement = db.prepare(sql);
      statement.setReadBigInts(true);
      statement.setReturnArrays(true);
      return read(statement, maxRows);
    },
  };
}

type Statement = ReturnType<DatabaseSync['prepare']>;

function read(statement: Statement, maxRows: number): ReadResult {
  const declared = statement.columns().map(({ name, type }) => ({ name, type: type === null ? undefined : declaredType(type) }));
  const rows: Cell[][] = [];
  let truncated = false;
  for (const row of statement.iterate() as Iterable<unknown>) {
    if (rows.length === maxRows) {
      truncated = true;
      break;
    }
    rows.push((row as unknown[]).map((value, index) => cell(value, declared[index]?.type)));
  }
  const columns = declared.map(({ name, type }, index) => ({ name, type: type ?? typeOfCells(rows, index) }));
  return { columns, rows, truncated };
}

function cell(value: unknown, type: FieldType | undefined): Cell {
  if (typeof value === 'bigint') return type === 'boolean' && (value === 0n || value === 1n) ? value === 1n : integerCell(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return typeof value === 'string' ? value : null;
}

/** SQLite types values, not expressions: the type that all cells of the column share. */
function typeOfCells(rows: readonly (readonly Cell[])[], index: number): FieldType {
  let type: FieldType = 'unknown';
  for (const row of rows) {
    const value = row[index] ?? null;
    if (value === null) continue;
    if (typeof value !== 'number') return 'string';
    if (type !== 'decimal') type = Number.isInteger(value) ? 'integer' : 'decimal';
  }
  return type;
}

function authorizer(functions: ReadonlySet<string>, tables: ReadonlySet<string>) {
  const allow = (allowed: boolean): number => (allowed ? constants.SQLITE_OK : constants.SQLITE_DENY);
  return (action: number, ...[first, second, schema]: (string | null)[]): number => {
    switch (action) {
      case constants.SQLITE_SELECT:
      case constants.SQLITE_RECURSIVE:
        return constants.SQLITE_OK;
      case constants.SQLITE_FUNCTION:
        return allow(functions.has(folded(second)));
      case constants.SQLITE_PRAGMA:
        return allow(folded(first) === 'table_info');
      case constants.SQLITE_READ:
        return allow(mayRead(folded(first), schema ?? null, tables));
      default:
        return constants.SQLITE_DENY;
    }
  };
}

/** Without a schema the name may be a CTE's, and only its existence is read. */
function mayRead(table: string, schema: string | null, tables: ReadonlySet<string>): boolean {
  if (sqliteTableFunctions.has(table)) return true;
  if (/^(sqlite_|pragma_|dbstat$|fts)/.test(table) && !(tables.has(table) && !table.startsWith('sqlite_'))) return false;
  return schema === null || tables.has(table);
}

function folded(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}
