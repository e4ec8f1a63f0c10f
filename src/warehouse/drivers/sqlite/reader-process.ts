import { constants, DatabaseSync } from 'node:sqlite';
import { flushCompileCache } from 'node:module';
import { Worker } from 'node:worker_threads';
import { errorMessage } from '../../../lib/error.ts';
import type { FieldType } from '../../../sql/field-type.ts';
import type { QueryRows } from '../../driver.ts';
import { doubleCell, integerCell } from '../../number-cells.ts';
import { limitResultSize, maxResultSize, rowSize } from '../../result-size.ts';
import type { Cell } from '../../warehouse.ts';
import { registerFunctions } from './register-functions.ts';
import { sqliteFunctions } from './functions.ts';
import { declaredType } from './declared-type.ts';

/** With `maxRows`: a user's statement, checked by the authorizer. Without: a statement of ktx over the system's tables. */
export interface ReaderRequest {
  readonly sql: string;
  readonly maxRows?: number;
}

export interface ReaderReply {
  readonly value?: unknown;
  /** Set if the request failed. */
  readonly errorMessage?: string;
}

/** Table-valued functions that FROM may call; everything else in FROM must be a table of the database. */
const allowedTableFunctions = [
  'json_each',
  'json_tree',
  'jsonb_each',
  'jsonb_tree',
  'pragma_table_info',
];
const [path = '', ...extraFunctions] = process.argv.slice(2);
const allowedFunctions = new Set([...sqliteFunctions, ...extraFunctions.map(foldCase)]);
let database: DatabaseSync | undefined;
let parentWatch: Worker | undefined;
const parent = process.ppid;

process.on('message', ({ sql, maxRows }: ReaderRequest) => {
  const isFirst = database === undefined;
  let reply: ReaderReply;
  try {
    database ??= openDatabase();
    if (maxRows !== undefined) parentWatch ??= watchParent();
    reply = {
      value:
        maxRows === undefined ? runUnchecked(database, sql) : runChecked(database, sql, maxRows),
    };
  } catch (error) {
    reply = { errorMessage: errorMessage(error) };
  }
  process.send?.(reply);
  // This process never ends by itself, so Node would never write its cache of compiled code.
  if (isFirst) flushCompileCache();
});
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());

/** A query can block this thread for a long time, so a second thread ends the process when its parent is gone. */
function watchParent(): Worker {
  const watch = `setInterval(() => process.ppid === ${parent} || process.kill(process.pid, 'SIGKILL'), 1000)`;
  const worker = new Worker(watch, { eval: true });
  worker.unref();
  return worker;
}

function openDatabase(): DatabaseSync {
  const db = new DatabaseSync(path, {
    readOnly: true,
    timeout: 5000,
    limits: { length: maxResultSize },
  });
  db.exec('PRAGMA hard_heap_limit = 1073741824');
  registerFunctions(db);
  return db;
}

function runUnchecked(db: DatabaseSync, sql: string): Record<string, unknown>[] {
  db.setAuthorizer(null);
  return db.prepare(sql).all();
}

/** The authorizer permits only reads of tables and calls of listed functions. */
function runChecked(db: DatabaseSync, sql: string, maxRows: number): QueryRows {
  const tables = runUnchecked(db, `SELECT name FROM pragma_table_list WHERE schema = 'main'`).map(
    ({ name }) => foldCase(name),
  );
  db.setAuthorizer(authorizer(new Set(tables)));
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const declared = statement
    .columns()
    .map(({ name, type }) => ({ name, type: type === null ? undefined : declaredType(type) }));
  const rows: Cell[][] = [];
  const storedTypes = declared.map(() => new Set<FieldType>());
  const addSize = limitResultSize();
  let truncated = false;
  for (const row of statement.iterate() as Iterable<unknown>) {
    truncated = rows.length === maxRows;
    if (truncated) break;
    const values = row as unknown[];
    const cells = values.map((value, index) => readCell(value, declared[index]?.type));
    for (const [index, value] of values.entries())
      if (value !== null) storedTypes[index]?.add(storedType(value));
    addSize(rowSize(cells));
    rows.push(cells);
  }
  const columns = declared.map(({ name, type }, index) => ({
    name,
    type: type ?? commonType(storedTypes[index] ?? new Set()),
  }));
  return { columns, rows, truncated };
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

function authorizer(tables: ReadonlySet<string>) {
  return (action: number, ...[name, detail, schema]: (string | null)[]): number => {
    const isRead =
      action === constants.SQLITE_SELECT ||
      action === constants.SQLITE_RECURSIVE ||
      (action === constants.SQLITE_FUNCTION && allowedFunctions.has(foldCase(detail))) ||
      (action === constants.SQLITE_PRAGMA && foldCase(name) === 'table_info') ||
      (action === constants.SQLITE_READ && mayRead(foldCase(name), schema ?? null, tables));
    return isRead ? constants.SQLITE_OK : constants.SQLITE_DENY;
  };
}

/** A name without schema may be a CTE; then SQLite only checks whether a table of that name exists. */
function mayRead(table: string, schema: string | null, tables: ReadonlySet<string>): boolean {
  if (allowedTableFunctions.includes(table)) return true;
  if (tables.has(table)) return !table.startsWith('sqlite_');
  return schema === null && !/^(sqlite_|pragma_|dbstat$|fts)/.test(table);
}

function foldCase(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}
