import { sqlserver } from '../../../sql/dialects/sqlserver.ts';
import type { ConnectionCatalogs } from '../../scope/catalogs.ts';
import type { RunCatalogQuery } from '../../table-schemas.ts';
import { warehouseError } from '../../warehouse-error.ts';
import { type LoginRights, readRights } from './privileges.ts';

/** Runs statements in another database of the server, with its catalog views and permissions. */
export function inDatabase(
  query: RunCatalogQuery,
  database: string,
  { own }: ConnectionCatalogs,
): RunCatalogQuery {
  if (database === own) return query;
  const run = `EXEC ${sqlserver.quote(database)}.sys.sp_executesql N`;
  return (sql) => query(`${run}'${sql.replaceAll("'", "''")}'`);
}

export interface DatabaseFacts {
  readonly defaultSchema: string;
  /** True if each of the databases lets a transaction read a snapshot. */
  readonly haveSnapshots: boolean;
}

/** Throws `warehouse_not_found` for a database that the login does not see. */
export async function readDatabases(
  query: RunCatalogQuery,
  { own, further }: ConnectionCatalogs,
): Promise<DatabaseFacts> {
  const names = further.map((name) => sqlserver.literal(name));
  const others = names.length === 0 ? '' : ` OR d.name IN (${names.join(', ')})`;
  const rows = (await query(
    `SELECT SCHEMA_NAME() AS default_schema, d.name, d.snapshot_isolation_state AS snapshots
     FROM sys.databases AS d WHERE d.database_id = DB_ID()${others}`,
  )) as {
    readonly default_schema: string;
    readonly name: string;
    readonly snapshots: number;
  }[];
  const found = new Set(rows.map(({ name }) => name.toLowerCase()));
  const missing = further.find((name) => !found.has(name.toLowerCase()));
  if (missing !== undefined)
    throw warehouseError(
      'warehouse_not_found',
      `There is no database ${missing} beside ${own}, or the login may not see it.`,
      { hint: 'Check other_databases. Azure SQL reads one database in a connection.' },
    );
  return {
    defaultSchema: rows[0]?.default_schema ?? 'dbo',
    haveSnapshots: rows.length > 0 && rows.every(({ snapshots }) => snapshots === 1),
  };
}

/** What the login may do in any of the databases. */
export async function readRightsIn(
  query: RunCatalogQuery,
  databases: ConnectionCatalogs,
): Promise<LoginRights> {
  const rights: LoginRights[] = [];
  for (const name of [databases.own, ...databases.further]) {
    const { findings, mayAskForPlans } = await readRights(inDatabase(query, name, databases));
    const place = name === databases.own ? '' : ` in ${name}`;
    rights.push({ findings: findings.map((text) => `${text}${place}`), mayAskForPlans });
  }
  return {
    findings: rights.flatMap(({ findings }) => findings),
    mayAskForPlans: rights.every(({ mayAskForPlans }) => mayAskForPlans),
  };
}
