import { constants, DatabaseSync } from 'node:sqlite';
import { flushCompileCache } from 'node:module';
import { Worker } from 'node:worker_threads';
import { errorMessage } from '../../../lib/error.ts';
import type { FieldType } from '../../../sql/field-type.ts';
import { answerMeter, integerCell, largestAnswer, rowSize, type Rows } from '../../driver.ts';
import type { Cell } from '../../warehouse.ts';
import { registerFunctions } from './aggregates.ts';
import { sqliteFunctions } from './functions.ts';
import { declaredType } from './types.ts';

/** With `maxRows` user text, behind the authorizer; without, ktx's own text over the system's tables. */
export interface ReaderRequest {
  readonly sql: string;
  readonly maxRows?: number;
}

export interface ReaderReply {
  readonly value?: unknown;
  /** Of the failure. */
  readonly message?: string;
}

/** Table-valued functions; everything else in FROM must be a table of the database. */
const tableFunctions = ['json_each', 'json_tree', 'jsonb_each', 'jsonb_tree', 'pragma_table_info'];
const [path = '', ...extraFunctions] = process.argv.slice(2);
const functions = new Set([...sqliteFunctions, ...extraFunctions.map(folded)]);
let opened: DatabaseSync | undefined;
let watched: Worker | undefined;
const parent = process.ppid;

process.on('message', ({ sql, maxRows }: ReaderRequest) => {
  const isFirst = opened === undefined;
  let reply: ReaderReply;
  try {
    opened ??= openDatabase();
    if (maxRows !== undefined) watched ??= watchParent();
    reply = {
      value: maxRows === undefined ? introspect(opened, sql) : query(opened, sql, maxRows),
    };
  } catch (error) {
    reply = { message: errorMessage(error) };
  }
  process.send?.(reply);
  // Where the environment names a cache of compiled code: this process never ends by itself, so it would stay empty.
  if (isFirst) flushCompileCache();
});
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());

/** A query of a person's can block this thread for long: only another thread can end the process when its parent is gone. */
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
    limits: { length: largestAnswer },
  });
  db.exec('PRAGMA hard_heap_limit = 1073741824');
  registerFunctions(db);
  return db;
}

function introspect(db: DatabaseSync, sql: string): Record<string, unknown>[] {
  db.setAuthorizer(null);
  return db.prepare(sql).all();
}

/** The authorizer lets only reads of tables and listed functions pass. */
function query(db: DatabaseSync, sql: string, maxRows: number): Rows {
  const tables = introspect(db, `SELECT name FROM pragma_table_list WHERE schema = 'main'`).map(
    ({ name }) => folded(name),
  );
  db.setAuthorizer(authorizer(new Set(tables)));
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const declared = statement
    .columns()
    .map(({ name, type }) => ({ name, type: type === null ? undefined : declaredType(type) }));
  const rows: Cell[][] = [];
  const count = answerMeter();
  let truncated = false;
  for (const row of statement.iterate() as Iterable<unknown>) {
    truncated = rows.length === maxRows;
    if (truncated) break;
    const cells = (row as unknown[]).map((value, index) => cell(value, declared[index]?.type));
    count(rowSize(cells));
    rows.push(cells);
  }
  const columns = declared.map(({ name, type }, index) => ({
    name,
    type: type ?? typeOfCells(rows, index),
  }));
  return { columns, rows, truncated };
}

function cell(value: unknown, type: FieldType | undefined): Cell {
  if (typeof value === 'bigint')
    return type === 'boolean' && (value === 0n || value === 1n) ? value === 1n : integerCell(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return typeof value === 'string' ? value : null;
}

/** SQLite types values, not expressions: the type that all cells of the column share. */
function typeOfCells(rows: readonly (readonly Cell[])[], index: number): FieldType {
  const cells = rows.map((row) => row[index] ?? null).filter((value) => value !== null);
  if (cells.length === 0) return 'unknown';
  if (cells.every(Number.isInteger)) return 'integer';
  return cells.every((value) => typeof value === 'number') ? 'decimal' : 'string';
}

function authorizer(tables: ReadonlySet<string>) {
  return (action: number, ...[name, detail, schema]: (string | null)[]): number => {
    const isRead =
      action === constants.SQLITE_SELECT ||
      action === constants.SQLITE_RECURSIVE ||
      (action === constants.SQLITE_FUNCTION && functions.has(folded(detail))) ||
      (action === constants.SQLITE_PRAGMA && folded(name) === 'table_info') ||
      (action === constants.SQLITE_READ && mayRead(folded(name), schema ?? null, tables));
    return isRead ? constants.SQLITE_OK : constants.SQLITE_DENY;
  };
}

/** Without a schema the name may be a CTE's, and only its existence is read. */
function mayRead(table: string, schema: string | null, tables: ReadonlySet<string>): boolean {
  if (tableFunctions.includes(table)) return true;
  if (tables.has(table)) return !table.startsWith('sqlite_');
  return schema === null && !/^(sqlite_|pragma_|dbstat$|fts)/.test(table);
}

function folded(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}
