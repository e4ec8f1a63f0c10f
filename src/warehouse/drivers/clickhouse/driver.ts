import { clickhouse } from '../../../sql/dialects/clickhouse.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { roleOf } from '../../identity/statement-identity.ts';
import {
  rowsAsObjects,
  type RunCatalogQueries,
  type RunCatalogQuery,
} from '../../table-schemas.ts';
import { warehouseError } from '../../warehouse-error.ts';
import { markOwnStatement } from '../../history/statement-history.ts';
import type { ClickhouseConfig } from './config.ts';
import { ClickhouseConnection, type ServerSettings } from './connection.ts';
import { clickhouseHistory } from './history.ts';
import { introspectClickhouse } from './introspect.ts';
import { clickhousePolicy, type ServerFunctions } from './policy.ts';
import { createReaderSql, findPrivileges, requireNoOwnGrants } from './privileges.ts';
import { clickhouseSettings } from './settings.ts';
import {
  type LoginLimits,
  readLimit,
  splitOwnSettings,
  statementSettings,
} from './statement-settings.ts';

/** Statements over the server's own catalogs return all that there is. */
const allRows = 10_000_000;

export async function open(
  config: ClickhouseConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const connectTo = clickhouseSettings(config, context);
  const { database } = connectTo;
  const connection = new ClickhouseConnection(connectTo);
  try {
    const login = await readLoginLimits(connection, signal);
    const settings = statementSettings(config, login);
    const runCatalogQueries: RunCatalogQueries = (callSignal, work) =>
      work(catalogQuery(connection, settings, callSignal));
    const untilClosed = new AbortController();
    if (config.identity?.mode === 'role')
      await runCatalogQueries(signal, (query) => requireNoOwnGrants(query, context.connection));
    const functions = await runCatalogQueries(signal, readFunctions);
    const dialect = { ...clickhouse, defaultSchema: database };
    const schemas = config.schemas ?? [database];
    return {
      dialect,
      policy: clickhousePolicy(
        dialect,
        catalogQuery(connection, settings, untilClosed.signal),
        functions,
      ),
      introspect: (scope, callSignal) =>
        runCatalogQueries(callSignal, (query) =>
          introspectClickhouse(query, scope.schemas ?? schemas),
        ),
      run: (sql, { maxRows, timeoutMs, maxBytes, identity, asker }, callSignal) =>
        connection.run(markOwnStatement(sql, asker), {
          maxRows,
          timeoutMs,
          signal: callSignal,
          role: roleOf(identity),
          settings: {
            ...settings,
            ...splitOwnSettings(sql).settings,
            ...readLimit(settings, maxBytes),
            max_result_rows: String(maxRows + 1),
            result_overflow_mode: 'break',
          },
        }),
      limitsBytes: true,
      async privileges() {
        const rows = (await runCatalogQueries(signal, (query) => query('SHOW GRANTS'))) as Record<
          string,
          string
        >[];
        const findings = findPrivileges(rows.flatMap((row) => Object.values(row)));
        const readOnly = findings.length === 0 || login.readonly > 0;
        return {
          readOnly,
          findings: readOnly ? [...findings, ...readOnlyFinding(login)] : findings,
          remedy: readOnly ? undefined : createReaderSql(schemas),
        };
      },
      history: clickhouseHistory(database, runCatalogQueries),
      async close() {
        untilClosed.abort();
        await connection.close();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function readOnlyFinding({ readonly }: LoginLimits): readonly string[] {
  return readonly > 0
    ? ['the profile of the login lets it read and nothing else']
    : ['the login may read and nothing else'];
}

function catalogQuery(
  connection: ClickhouseConnection,
  settings: ServerSettings,
  signal: AbortSignal,
): RunCatalogQuery {
  return async (sql) =>
    rowsAsObjects(await connection.run(sql, { maxRows: allRows, signal, settings }));
}

/** Asked without any setting: a login whose profile has readonly = 1 may not send one. */
async function readLoginLimits(
  connection: ClickhouseConnection,
  signal: AbortSignal,
): Promise<LoginLimits> {
  const { rows } = await connection.run(
    `SELECT toUInt32(getSetting('readonly')), toFloat64(getSetting('max_memory_usage')), toFloat64(getSetting('max_bytes_to_read'))`,
    { maxRows: 1, signal, settings: {} },
  );
  const [readonly = 0, maxMemory = 0, maxBytesToRead = 0] = (rows[0] ?? []).map(Number);
  if (readonly === 1)
    throw warehouseError(
      'warehouse_privilege',
      'The profile of the login has readonly = 1, so ktx can set neither limits nor how NULL joins.',
      {
        hint: 'Give it readonly = 2, with which it can write no more: ALTER USER … SETTINGS readonly = 2.',
      },
    );
  return { readonly, maxMemory, maxBytesToRead };
}

async function readFunctions(query: RunCatalogQuery): Promise<ServerFunctions> {
  const rows = (await query(
    `SELECT lower(name) AS name, toString(origin) AS origin, is_aggregate FROM system.functions
     UNION ALL SELECT lower(name), 'System', 0 FROM system.table_functions`,
  )) as { readonly name: string; readonly origin: string; readonly is_aggregate: number }[];
  const namesWhere = (holds: (row: (typeof rows)[number]) => boolean): ReadonlySet<string> =>
    new Set(rows.filter(holds).map(({ name }) => name));
  return {
    known: namesWhere(() => true),
    aggregates: namesWhere((row) => row.is_aggregate === 1),
    added: namesWhere(({ origin }) => origin !== 'System'),
  };
}
