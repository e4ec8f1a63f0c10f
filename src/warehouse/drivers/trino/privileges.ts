import { UserError } from '../../../lib/error.ts';
import { trino } from '../../../sql/dialects/trino.ts';
import type { RunCatalogQuery } from '../../table-schemas.ts';
import type { PrivilegeReport } from '../../warehouse.ts';
import type { TrinoScope } from './introspect.ts';

/** What the server checks a login for, by the statement that needs it. EXPLAIN runs neither. */
const writing = {
  INSERT: (table: string) => `INSERT INTO ${table} SELECT * FROM ${table}`,
  DELETE: (table: string) => `DELETE FROM ${table}`,
} as const;

/**
 * What the login could do without the read-only transaction. Trino has no list of that for every
 * catalog; it checks statements. So it is asked to check two on the first table of the connection,
 * which runs neither.
 */
export async function trinoPrivileges(
  query: RunCatalogQuery,
  { catalog, schemas }: TrinoScope,
): Promise<PrivilegeReport> {
  const remedy = createReaderSql(catalog, schemas);
  const table = await firstTable(query, { catalog, schemas });
  if (table === undefined)
    return {
      readOnly: false,
      findings: ['there is no table to find out what the login may write'],
      remedy,
    };
  const found: string[] = [];
  for (const [privilege, statement] of Object.entries(writing))
    if (await mayRun(query, statement(table))) found.push(privilege);
  const shown = table.replaceAll('"', '');
  if (found.length > 0)
    return { readOnly: false, findings: [`the login may ${found.join(', ')} on ${shown}`], remedy };
  return { readOnly: true, findings: [`the login may not write to ${shown}`] };
}

async function firstTable(
  query: RunCatalogQuery,
  { catalog, schemas }: TrinoScope,
): Promise<string | undefined> {
  const names = schemas?.map((schema) => trino.literal(schema.toLowerCase())).join(', ');
  const inScope = names === undefined ? `<> 'information_schema'` : `IN (${names})`;
  const [row] = (await query(
    `SELECT table_schema, table_name FROM ${trino.quote(catalog)}.information_schema.tables
     WHERE table_schema ${inScope} AND table_type = 'BASE TABLE' ORDER BY table_schema, table_name LIMIT 1`,
  )) as { readonly table_schema: string; readonly table_name: string }[];
  if (row === undefined) return undefined;
  return [catalog, row.table_schema, row.table_name].map((part) => trino.quote(part)).join('.');
}

/**
 * False if the server denies it, or the catalog takes no such statement from anyone. A refusal
 * because of the read-only transaction comes after the check of the login.
 */
async function mayRun(query: RunCatalogQuery, sql: string): Promise<boolean> {
  try {
    await query(`EXPLAIN (TYPE VALIDATE) ${sql}`);
    return true;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    if (error.code === 'gate_refused') return true;
    const isUnsupported = error.code === 'query_failed' && /not support/i.test(error.message);
    if (error.code === 'warehouse_privilege' || isUnsupported) return false;
    throw error;
  }
}

/** Trino makes no logins; its access control decides, by SQL or by the rules of the server. */
function createReaderSql(
  catalog: string,
  schemas: readonly string[] | undefined,
): readonly string[] {
  const grants = (schemas ?? ['<schema>']).map(
    (schema) =>
      `GRANT SELECT ON SCHEMA ${trino.quote(catalog)}.${trino.quote(schema)} TO USER ktx_reader;`,
  );
  const rule = JSON.stringify({
    tables: [{ user: 'ktx_reader', catalog, privileges: ['SELECT'] }],
  });
  return [...grants, `-- or, where rules in a file decide: ${rule}`];
}
