import { constants, DatabaseSync } from 'node:sqlite';
import type { FieldType } from '../../../sql/field-type.ts';
import type { QueryRows } from '../../driver.ts';
import { createRowBatches } from '../../engine-process/row-batches.ts';
import { type ServedCall, serveRequests } from '../../engine-process/serve-requests.ts';
import { doubleCell, integerCell } from '../../result/number-cells.ts';
import { maxResultSize } from '../../result-size.ts';
import type { Cell } from '../../warehouse.ts';
import { registerFunctions } from './register-functions.ts';
import { sqliteFunctions } from './functions.ts';
import { declaredType } from './declared-type.ts';

/** A database file, and the functions that its connection allows in addition to the listed ones. */
export interface SqliteSetup {
  readonly path: string;
  readonly extraFunctions: readonly string[];
}

/**
 * With `maxRows`: a user's statement, checked by the authorizer; answers its rows in batches, and
 * its columns as value. Without: a statement of ktx over the system's tables; answers its rows as
 * objects.
 */
export interface SqliteRequest {
  readonly sql: string;
  readonly maxRows?: number;
}

/**
 * Table-valued functions that FROM may call; everything else in FROM must be a table of the
 * database.
 */
const allowedTableFunctions = [
  'json_each',
  'json_tree',
  'jsonb_each',
  'jsonb_tree',
  'pragma_table_info',
];
/** Full text search asks for `data_version` to find out if its index has changed. */
const allowedPragmas = ['table_info', 'data_version'];
let database: DatabaseSync | undefined;
let listed: ListedTables | undefined;
let allowedFunctions: ReadonlySet<string> = new Set();
/** The tables that a user's statement may read. */
let readable: ReadonlySet<string> = new Set();
/** True while ktx asks something itself. */
let isOwnStatement = false;

serveRequests<SqliteSetup, SqliteRequest>({
  open({ path, extraFunctions }) {
    allowedFunctions = new Set([...sqliteFunctions, ...extraFunctions.map(foldCase)]);
    listed = undefined;
    database = openDatabase(path);
  },
  run({ sql, maxRows }, call) {
    if (database === undefined) throw new Error('No database is open.');
    return maxRows === undefined
      ? runUnchecked(database, sql)
      : runChecked(database, sql, { maxRows, call });
  },
  close() {
    database?.close();
    database = undefined;
  },
});

function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path, {
    readOnly: true,
    timeout: 5000,
    limits: { length: maxResultSize },
  });
  db.exec('PRAGMA hard_heap_limit = 1073741824');
  registerFunctions(db);
  db.setAuthorizer(authorize);
  return db;
}

function runUnchecked(db: DatabaseSync, sql: string): Record<string, unknown>[] {
  isOwnStatement = true;
  try {
    return db.prepare(sql).all();
  } finally {
    isOwnStatement = false;
  }
}

/** The authorizer permits only reads of tables and calls of listed functions. */
async function runChecked(
  db: DatabaseSync,
  sql: string,
  { maxRows, call }: { readonly maxRows: number; readonly call: ServedCall },
): Promise<Omit<QueryRows, 'rows'>> {
  readable = listTables(db);
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const declared = statement
    .columns()
    .map(({ name, type }) => ({ name, type: type === null ? undefined : declaredType(type) }));
  const storedTypes = declared.map(() => new Set<FieldType>());
  const typedColumns = (): QueryRows['columns'] =>
    declared.map(({ name, type }, index) => ({
      name,
      type: type ?? commonType(storedTypes[index] ?? new Set()),
    }));
  const batches = createRowBatches(call.emit);
  for (const row of statement.iterate() as Iterable<unknown>) {
    if (batches.count() === maxRows) {
      await batches.flush();
      return { columns: typedColumns(), truncated: true };
    }
    const values = row as unknown[];
    batches.add(values.map((value, index) => readCell(value, declared[index]?.type)));
    for (const [index, value] of values.entries())
      if (value !== null) storedTypes[index]?.add(storedType(value));
    if (batches.isFull()) await batches.flush();
  }
  await batches.flush();
  return { columns: typedColumns(), truncated: false };
}

interface ListedTables {
  /** SQLite counts it up with each change of the structure. */
  readonly version: unknown;
  readonly names: ReadonlySet<string>;
}

/**
 * The tables of the database, in lower case. Listed again when its structure has changed, since a
 * list of 4,000 tables takes longer than most statements.
 */
function listTables(db: DatabaseSync): ReadonlySet<string> {
  const version = runUnchecked(db, 'PRAGMA schema_version')[0]?.['schema_version'];
  if (listed === undefined || listed.version !== version) {
    const rows = runUnchecked(db, `SELECT name FROM pragma_table_list WHERE schema = 'main'`);
    listed = { version, names: new Set(rows.map(({ name }) => foldCase(name))) };
  }
  return listed.names;
}

function readCell(value: unknown, type: FieldType | undefined): Cell {
  if (typeof value === 'bigint')
    return type === 'boolean' && (value === 0n || value === 1n) ? value === 1n : integerCell(value);
  if (typeof value === 'number') return doubleCell(value);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return typeof value === 'string' ? value : null;
}

function storedType(value: unknown): FieldType {
  if (typeof value === 'bigint') return 'integer';
  return typeof value === 'number' ? 'decimal' : 'string';
}

/** The type that all values of a column share. SQLite has types for values, not for expressions. */
function commonType(types: ReadonlySet<FieldType>): FieldType {
  const [first = 'unknown'] = types;
  if (types.size <= 1) return first;
  return types.has('string') ? 'string' : 'decimal';
}

/**
 * Asked by SQLite for each thing that a statement would do. It stays set: SQLite goes through all
 * statements that it knows each time it is set, which are thousands in a scan.
 */
function authorize(action: number, ...[name, detail, schema]: (string | null)[]): number {
  const isRead =
    isOwnStatement ||
    action === constants.SQLITE_SELECT ||
    action === constants.SQLITE_RECURSIVE ||
    (action === constants.SQLITE_FUNCTION && allowedFunctions.has(foldCase(detail))) ||
    (action === constants.SQLITE_PRAGMA && allowedPragmas.includes(foldCase(name))) ||
    (action === constants.SQLITE_READ && mayRead(foldCase(name), schema ?? null, readable));
  return isRead ? constants.SQLITE_OK : constants.SQLITE_DENY;
}

/**
 * A name without schema may be a CTE; then SQLite only checks whether a table of that name exists.
 */
function mayRead(table: string, schema: string | null, tables: ReadonlySet<string>): boolean {
  if (allowedTableFunctions.includes(table)) return true;
  if (tables.has(table)) return !table.startsWith('sqlite_');
  return schema === null && !/^(sqlite_|pragma_|dbstat$|fts)/.test(table);
}

function foldCase(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}
