import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { type ServedCall, serveRequests } from '../../engine-process/serve-requests.ts';
import { runDuckdbStatement } from './run-statement.ts';

/** A database file and how DuckDB opens it. */
export interface DuckdbSetup {
  readonly path: string;
  readonly options: Readonly<Record<string, string>>;
  /** Statements that run once, after the file is open. */
  readonly settings: readonly string[];
}

export type DuckdbRequest =
  /** A user's statement. Answers its rows in batches, and its columns as value. */
  | { readonly kind: 'statement'; readonly sql: string; readonly maxRows: number }
  /** A statement of ktx over DuckDB's catalogs. Answers the rows as objects, in batches. */
  | { readonly kind: 'catalog'; readonly sql: string }
  /** Answers the syntax tree as JSON text. */
  | { readonly kind: 'parse'; readonly sql: string }
  /** Runs a script of ktx. */
  | { readonly kind: 'script'; readonly sql: string };

// What DuckDB writes (loaded data files, what does not fit into memory) is for the owner alone.
process.umask(0o077);

let instance: DuckDBInstance | undefined;

serveRequests<DuckdbSetup, DuckdbRequest>({
  async open({ path, options, settings }) {
    instance = await DuckDBInstance.create(path, options);
    const connection = await instance.connect();
    for (const setting of settings) await connection.run(setting);
    connection.closeSync();
  },
  async run(request, call) {
    if (instance === undefined) throw new Error('No database is open.');
    // Each call has a connection of its own, so that a cancel stops nothing else.
    const connection = await instance.connect();
    const interrupt = (): void => connection.interrupt();
    call.signal.addEventListener('abort', interrupt);
    try {
      call.signal.throwIfAborted();
      return await answer(request, connection, call);
    } finally {
      call.signal.removeEventListener('abort', interrupt);
      connection.closeSync();
    }
  },
  close() {
    instance?.closeSync();
    instance = undefined;
  },
});

async function answer(
  request: DuckdbRequest,
  connection: DuckDBConnection,
  { emit }: ServedCall,
): Promise<unknown> {
  const { kind, sql } = request;
  if (kind === 'statement')
    return runDuckdbStatement(connection, sql, { maxRows: request.maxRows, emit });
  if (kind === 'parse') return parseStatement(connection, sql);
  if (kind === 'script') await connection.run(sql);
  else {
    const result = await connection.stream(sql);
    for await (const rows of result.yieldRowObjectJson()) await emit(rows);
  }
  return undefined;
}

async function parseStatement(connection: DuckDBConnection, sql: string): Promise<unknown> {
  // By its full name: the database may have a macro of that name.
  const parse = 'SELECT system.main.json_serialize_sql($1::VARCHAR)';
  const reader = await connection.runAndReadAll(parse, [sql]);
  return reader.getRows()[0]?.[0];
}
