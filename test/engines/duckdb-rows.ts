import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export interface EngineColumn {
  readonly name: string;
  /** DuckDB's spelling, such as `DECIMAL(10,2)`. */
  readonly type: string;
}

export interface EngineRows {
  readonly columns: readonly EngineColumn[];
  /** DuckDB's text of each value. */
  readonly rows: readonly (readonly (string | null)[])[];
}

interface EngineStatement {
  /** The dialect of the statement, by its name in the SQL analyzer. */
  readonly dialect: string;
  /** Mends the translation where the analyzer errs. */
  readonly rewrite?: (sql: string) => string;
  readonly signal?: AbortSignal | undefined;
}

/** DuckDB behind a server that speaks the protocol of an engine which cannot run here. */
export interface DuckdbRows {
  /** Runs a statement of the dialect. Throws DuckDB's error. */
  run(sql: string, statement: EngineStatement): Promise<EngineRows>;
  /** Runs statements of DuckDB itself. */
  execute(script: string): Promise<void>;
  close(): void;
}

/** Opens a database in memory that `script`, in DuckDB's dialect, fills. */
export async function openDuckdbRows(script: string): Promise<DuckdbRows> {
  const translate = await loadTranslator();
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: '1GB',
    // A statement without an end would fill the disk.
    max_temp_directory_size: '0KB',
  });
  const setUp = await instance.connect();
  await setUp.run(`SET TimeZone = 'UTC'; ${script}`);
  return {
    run: async (sql, { dialect, rewrite = (text) => text, signal }) => {
      const connection = await instance.connect();
      let again: NodeJS.Timeout | undefined;
      // An interruption before the engine has begun is lost.
      const interrupt = () => {
        connection.interrupt();
        again = setInterval(() => connection.interrupt(), 50);
      };
      signal?.addEventListener('abort', interrupt, { once: true });
      try {
        signal?.throwIfAborted();
        await connection.run("SET TimeZone = 'UTC'");
        return await readAll(connection, rewrite(translate(sql, dialect)));
      } finally {
        signal?.removeEventListener('abort', interrupt);
        clearInterval(again);
        connection.closeSync();
      }
    },
    execute: async (text) => void (await setUp.run(text)),
    close: () => {
      setUp.closeSync();
      instance.closeSync();
    },
  };
}

async function readAll(connection: DuckDBConnection, sql: string): Promise<EngineRows> {
  const reader = await connection.runAndReadAll(sql);
  const types = reader.columnTypes();
  return {
    columns: reader.columnNames().map((name, index) => ({ name, type: String(types[index]) })),
    rows: reader.getRows().map((row) => row.map((cell) => (cell === null ? null : String(cell)))),
  };
}

type Sdk = typeof import('@polyglot-sql/sdk');

async function loadTranslator() {
  const wasm = fileURLToPath(import.meta.resolve('@polyglot-sql/sdk/polyglot_sql.wasm'));
  const entry: unknown = await import('@polyglot-sql/sdk/manual');
  const sdk = entry as Sdk & { init(options: { wasmUrl: unknown }): Promise<void> };
  await sdk.init({ wasmUrl: readFile(wasm) });
  return (sql: string, dialect: string): string => {
    const from = Object.values(sdk.Dialect).find((name: string) => name === dialect);
    if (from === undefined) throw new Error(`the analyzer knows no dialect ${dialect}`);
    const result = sdk.transpile(sql, from, sdk.Dialect.DuckDB);
    const [text, ...others] = result.sql ?? [];
    if (!result.success || text === undefined || others.length > 0)
      throw new Error(`cannot be translated: ${result.error ?? sql}`);
    return text;
  };
}

/** The databases that a script attaches. */
export function attachedDatabases(script: string): readonly string[] {
  const names = script.matchAll(/ATTACH ':memory:' AS (?:"([^"]+)"|(\w+))/g);
  return Array.from(names, ([, quoted, plain = '']) => quoted ?? plain);
}
