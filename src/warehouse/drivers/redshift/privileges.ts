import { UserError } from '../../../lib/error.ts';
import { redshift } from '../../../sql/dialects/redshift.ts';
import type { RunCatalogQueries } from '../../table-schemas.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { PrivilegeReport } from '../../warehouse.ts';
import { isUserSchema } from './introspect.ts';

const loginSql = `SELECT u.usename AS "login", u.usesuper AS "isSuperuser", u.usecreatedb AS "makesDatabases"
  FROM pg_user u WHERE u.usename = current_user`;
const writing = ['INSERT', 'UPDATE', 'DELETE']
  .map((privilege) => `has_table_privilege(c.oid, '${privilege}')`)
  .join(' OR ');
const tablesSql = `SELECT count(*) AS "count" FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'v') AND ${isUserSchema('n.nspname')} AND (${writing})`;
const schemasSql = `SELECT count(*) AS "count" FROM pg_namespace n
  WHERE ${isUserSchema('n.nspname')} AND has_schema_privilege(n.oid, 'CREATE')`;
/** The roles of the system beside sys:monitor let a login change data or users. */
const rolesSql = `SELECT role_name AS "role" FROM svv_user_grants
  WHERE user_name = current_user AND role_name LIKE 'sys:%' AND role_name <> 'sys:monitor' ORDER BY 1`;

interface LoginPowers {
  readonly login: string;
  /** What lets the login change data that is there, or the logins. */
  readonly writes: readonly string[];
  /** What lets it only add tables of its own: every login may, in a new database. */
  readonly creates: readonly string[];
}

export async function readPowers(
  run: RunCatalogQueries,
  signal: AbortSignal,
): Promise<LoginPowers> {
  const [login, tables, schemas] = await run(signal, async (query) => {
    const [first] = (await query(loginSql)) as RedshiftLogin[];
    return [first, await query(tablesSql), await query(schemasSql)] as const;
  });
  const roles = await readRoles(run, signal);
  const name = login?.login ?? 'of this connection';
  const counted = (rows: readonly unknown[]): number =>
    Number((rows as { count: string | number }[])[0]?.count ?? 0);
  const [tableCount, schemaCount] = [counted(tables), counted(schemas)];
  const writes = [
    ...(login?.isSuperuser === true ? ['is a superuser'] : []),
    ...(login?.makesDatabases === true ? ['may create databases'] : []),
    ...roles.map((role) => `has the role ${role}`),
    ...(tableCount > 0 ? [`may write to ${plural(tableCount, 'table')}`] : []),
  ];
  const creates = schemaCount > 0 ? [`may create objects in ${plural(schemaCount, 'schema')}`] : [];
  const sentence = (power: string): string => `login ${name} ${power}`;
  return { login: name, writes: writes.map(sentence), creates: creates.map(sentence) };
}

interface RedshiftLogin {
  readonly login: string;
  readonly isSuperuser: boolean;
  readonly makesDatabases: boolean;
}

/** Empty if the server has no roles, or does not show them. */
function readRoles(run: RunCatalogQueries, signal: AbortSignal): Promise<readonly string[]> {
  return run(signal, async (query) =>
    ((await query(rolesSql)) as { role: string }[]).map(({ role }) => role),
  ).catch((error: unknown) => {
    const codes = ['missing_object', 'warehouse_privilege'];
    if (error instanceof UserError && codes.includes(error.code)) return [];
    throw error;
  });
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The error for a login that may change data. */
export function writableLoginError(
  connection: string,
  powers: LoginPowers,
  schemas: readonly string[],
) {
  return warehouseError(
    'warehouse_privilege',
    `Not connected: ${powers.writes.join('; ')} (connection "${connection}").`,
    {
      hint: `Use a login that can only read: ${createReaderSql(schemas).join(' ')} Or set allow_writable_role: true.`,
    },
  );
}

export function privilegeReport(
  { writes, creates }: LoginPowers,
  schemas: readonly string[],
): PrivilegeReport {
  const findings = [...writes, ...creates];
  const readOnly = findings.length === 0;
  return { readOnly, findings, remedy: readOnly ? undefined : createReaderSql(schemas) };
}

/** SQL that creates a read-only login; `ktx status` and `ktx setup` print it. */
function createReaderSql(schemas: readonly string[]): string[] {
  const grants = schemas
    .map((schema) => redshift.quote(schema))
    .flatMap((schema) => [
      `GRANT USAGE ON SCHEMA ${schema} TO ktx_reader;`,
      `GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ktx_reader;`,
      `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT ON TABLES TO ktx_reader;`,
    ]);
  return [
    `CREATE USER ktx_reader PASSWORD '…';`,
    ...grants,
    `GRANT SELECT ON svv_table_info TO ktx_reader;`,
  ];
}
