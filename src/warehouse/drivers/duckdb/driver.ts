import { resolve } from 'node:path';
import { duckdb } from '../../../sql/dialects/duckdb.ts';
import { driverOfFile } from '../../config.ts';
import { checkDatabaseFile, fileFingerprint, fileStats } from '../../database-file.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { startEngineAhead } from '../../engine-process/spare-engines.ts';
import { type ErrorRules, translateError, warehouseError } from '../../warehouse-error.ts';
import type { WarehouseSchema } from '../../warehouse.ts';
import type { DuckdbConfig } from './config.ts';
import type { FilesConfig } from './files/file-options.ts';
import { introspectDuckdb } from './introspect.ts';
import { isGlob, isTableFile } from './files/file-tables.ts';
import { type LoadedFiles, loadFiles } from './files/load-files.ts';
import { duckdbPolicy } from './policy.ts';
import { duckdbProgram, openReader } from './reader.ts';
import type { DuckdbSetup } from './reader-process.ts';
import { lockSettings, readOnlyOptions } from './settings.ts';
import { spillFolder } from './spill-folder.ts';

export async function open(
  config: DuckdbConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  startEngineAhead(duckdbProgram);
  const path = resolve(context.projectDir, config.path);
  const source = await openSource({ path, files: config.files }, context, signal);
  const reader = openReader(readOnlySetup(source.database, context), context.workload);
  const translateErrors = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch(translateError(queryErrors));
  try {
    // The first use of the reader: it fails if the file cannot be opened.
    const policy = await duckdbPolicy(reader, signal).catch(translateError(openErrors(path)));
    return {
      dialect: duckdb,
      policy,
      introspect: (scope, callSignal) => {
        const runQuery = (sql: string) => reader.catalogRows(sql, { signal: callSignal });
        const schemas = scope.schemas ?? config.schemas;
        return translateErrors(
          introspectDuckdb(runQuery, { schemas }, source.marker).then((schema) =>
            withFileNotes(schema, source),
          ),
        );
      },
      run: (sql, limits, callSignal) =>
        translateErrors(reader.query(sql, { ...limits, signal: callSignal })),
      marker: source.marker,
      doubts: source.doubts,
      privileges: async () => ({
        readOnly: true,
        findings: ['DuckDB opens the file read-only and cannot reach other files.'],
      }),
      close: () => reader.close(),
    };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

/**
 * A database file is opened as it is; data files are loaded into a database in the cache folder
 * first.
 */
async function openSource(
  { path, files }: { readonly path: string; readonly files: FilesConfig | undefined },
  context: OpenContext,
  signal: AbortSignal,
): Promise<LoadedFiles> {
  const stats = fileStats(path);
  const hasDataFiles =
    stats === undefined ? isGlob(path) : stats.isDirectory() || isTableFile(path);
  if (hasDataFiles) return loadFiles({ path, files }, context, signal);
  checkDatabaseFile(path, context.connection);
  const other = driverOfFile(path);
  if (other !== undefined && other.name !== 'duckdb') {
    throw warehouseError('not_a_database', `${path} is a ${other.title} file.`, {
      hint: `Choose the driver ${other.name}: --driver ${other.name}, or driver: ${other.name} in ktx.yaml.`,
    });
  }
  return {
    database: path,
    marker: () => fileFingerprint([path, `${path}.wal`]),
    unreadFiles: [],
    assumptions: [],
    doubts: [],
    unreadTables: new Set(),
  };
}

/** A table whose files cannot be read now is a view for DuckDB; for everybody else it stays one. */
function withFileNotes(
  { tables, queries }: WarehouseSchema,
  { unreadTables, unreadFiles, assumptions, marker }: LoadedFiles,
): WarehouseSchema {
  return {
    tables: tables.map((table) =>
      unreadTables.has(table.table)
        ? { ...table, kind: 'table', marker: marker(table.table) }
        : table,
    ),
    queries,
    ...(unreadFiles.length > 0 && { unreadFiles }),
    ...(assumptions.length > 0 && { assumptions }),
  };
}

/** Data that does not fit into memory goes into a folder of the cache, not beside the database. */
function readOnlySetup(path: string, context: OpenContext): DuckdbSetup {
  const options = {
    temp_directory: spillFolder(context),
    max_temp_directory_size: '20GB',
    ...readOnlyOptions,
  };
  return { path, options, settings: lockSettings };
}

function openErrors(path: string): ErrorRules {
  return [
    [
      /set lock|another process|conflicting lock|different configuration|already attached/i,
      'warehouse_locked',
      `${path} is in use`,
    ],
    [/permission denied/i, 'warehouse_unreachable', `${path} cannot be opened`],
    [/^/, 'not_a_database', `${path} is not a DuckDB database that this version can read`],
  ];
}

const queryErrors: ErrorRules = [
  // What the view of a table says whose files cannot be read: see `keepStructure`.
  [/ could not be loaded: /, 'query_failed', 'This table cannot be read now'],
  [/: Catalog Error: .*does not exist|not found in FROM clause/, 'missing_object', 'DuckDB'],
  [
    /read-only mode|Permission Error|configuration has been locked|through configuration/,
    'gate_refused',
    '',
  ],
  [/Out of Memory Error|Allocation failure|bad_alloc/, 'out_of_memory', 'DuckDB'],
  [/^/, 'query_failed', 'DuckDB could not run the query'],
];
