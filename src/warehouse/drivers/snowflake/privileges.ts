import { UserError } from '../../../lib/error.ts';
import { snowflake } from '../../../sql/dialects/snowflake.ts';
import type { ConnectionCatalogs } from '../../scope/catalogs.ts';
import type { RunCatalogQuery } from '../../table-schemas.ts';
import type { PrivilegeReport } from '../../warehouse.ts';
import type { StatementPlace } from './connection.ts';

/**
 * Privileges that let nobody change data or objects, wherever they are granted. OPERATE is one on a
 * warehouse; on a task it runs the task.
 */
const reading =
  /^(?:SELECT|USAGE|REFERENCES|MONITOR(?: [\w ]+)?|READ|IMPORTED PRIVILEGES|VIEW LINEAGE|RESOLVE ALL|USE (?:ANY ROLE|SCHEMA)|READ SESSION|LIST|VIEW [\w ]+)$/;
/** Roles that may do everything, or give themselves what they lack. */
const administrators =
  /^(?:ACCOUNTADMIN|SYSADMIN|SECURITYADMIN|USERADMIN|ORGADMIN|GLOBALORGADMIN)$/;
/** Roles within roles are read so far. A login with more cannot be judged. */
const mostRoles = 100;

interface RoleName {
  readonly kind: 'ROLE' | 'DATABASE ROLE';
  /** As Snowflake writes it: the name as it is kept, and for a database role `DB.NAME`. */
  readonly name: string;
}

/** A row of SHOW GRANTS. */
interface RoleGrant {
  readonly privilege: string;
  /** The kind of object: `TABLE`, `SCHEMA`, `ROLE`. */
  readonly granted_on: string;
  readonly name: string;
}

/** The roles that a statement has: its own, and the secondary roles of the user. */
export interface LoginRoles {
  readonly role: string;
  readonly secondary: readonly string[];
}

/**
 * What the roles of a login may do, with the roles that they inherit. Snowflake has no read-only
 * session, so this is what keeps a statement from writing.
 */
export async function readPrivileges(
  query: RunCatalogQuery,
  { role, secondary }: LoginRoles,
  remedy: readonly string[],
): Promise<PrivilegeReport> {
  const open: RoleName[] = [role, ...secondary, 'PUBLIC'].map((name) => ({ kind: 'ROLE', name }));
  const seen = new Set<string>();
  const findings = new Set<string>();
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { kind, name } = next;
    if (seen.has(`${kind} ${name}`)) continue;
    seen.add(`${kind} ${name}`);
    if (seen.size > mostRoles) {
      findings.add(`the login has more than ${mostRoles} roles, which ktx does not all read`);
      break;
    }
    if (kind === 'ROLE' && administrators.test(name)) {
      findings.add(`role ${name} administers the account`);
      continue;
    }
    const grants = await readGrants(query, next);
    if (grants === undefined) findings.add(`the grants of role ${name} cannot be read`);
    for (const finding of writingFindings(name, grants ?? [])) findings.add(finding);
    open.push(...inheritedRoles(grants ?? []));
  }
  const readOnly = findings.size === 0;
  return {
    readOnly,
    findings: readOnly ? [`role ${role} may read and nothing else`] : [...findings],
    remedy: readOnly ? undefined : remedy,
  };
}

/** Undefined if the login may not see them. */
async function readGrants(
  query: RunCatalogQuery,
  { kind, name }: RoleName,
): Promise<readonly RoleGrant[] | undefined> {
  const parts = kind === 'ROLE' ? [name] : splitDatabaseRole(name);
  const quoted = parts.map((part) => snowflake.quote(part)).join('.');
  try {
    return (await query(`SHOW GRANTS TO ${kind} ${quoted}`)) as RoleGrant[];
  } catch (error) {
    const isHidden =
      error instanceof UserError && ['missing_object', 'warehouse_privilege'].includes(error.code);
    if (isHidden) return undefined;
    throw error;
  }
}

function splitDatabaseRole(name: string): readonly string[] {
  const parts = name.match(/"(?:[^"]|"")+"|[^".]+/g) ?? [];
  return parts.map((part) =>
    part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part,
  );
}

/** One sentence for each privilege and kind of object. */
function writingFindings(role: string, grants: readonly RoleGrant[]): readonly string[] {
  const writing = grants.filter(
    ({ privilege, granted_on: on }) =>
      !reading.test(privilege) && !(privilege === 'OPERATE' && on === 'WAREHOUSE'),
  );
  const groups = Map.groupBy(writing, ({ privilege, granted_on: on }) => `${privilege}\0${on}`);
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const on = first.granted_on.toLowerCase().replaceAll('_', ' ');
    return [`role ${role} has ${first.privilege} on ${on} ${first.name}${more}`];
  });
}

/** Those of the database SNOWFLAKE are the vendor's, and show metadata. */
function inheritedRoles(grants: readonly RoleGrant[]): readonly RoleName[] {
  return grants.flatMap(({ privilege, granted_on: on, name }): readonly RoleName[] => {
    if (privilege !== 'USAGE') return [];
    if (on === 'ROLE') return [{ kind: 'ROLE', name }];
    if (on !== 'DATABASE_ROLE' || name.startsWith('SNOWFLAKE.')) return [];
    return [{ kind: 'DATABASE ROLE', name }];
  });
}

/** SQL that makes a user that can read what the connection reads, and nothing else. */
export function createReaderSql(
  { warehouse = 'WAREHOUSE' }: StatementPlace,
  { own, further }: ConnectionCatalogs,
  schemas: readonly string[] | undefined,
): readonly string[] {
  return [
    'CREATE ROLE KTX_READER;',
    `GRANT USAGE ON WAREHOUSE ${snowflake.quote(warehouse)} TO ROLE KTX_READER;`,
    ...[own, ...further].flatMap((database) => readDatabaseSql(database, schemas)),
    "CREATE USER KTX_READER TYPE = SERVICE DEFAULT_ROLE = KTX_READER DEFAULT_SECONDARY_ROLES = () RSA_PUBLIC_KEY = '<public key>';",
    'GRANT ROLE KTX_READER TO USER KTX_READER;',
  ];
}

function readDatabaseSql(
  database: string,
  schemas: readonly string[] | undefined,
): readonly string[] {
  const name = snowflake.quote(database);
  const kinds = ['TABLES', 'VIEWS', 'MATERIALIZED VIEWS', 'DYNAMIC TABLES', 'EXTERNAL TABLES'];
  const places = schemas?.map((schema) => `SCHEMA ${name}.${snowflake.quote(schema)}`);
  const usage = places ?? [`ALL SCHEMAS IN DATABASE ${name}`, `FUTURE SCHEMAS IN DATABASE ${name}`];
  return [
    `GRANT USAGE ON DATABASE ${name} TO ROLE KTX_READER;`,
    ...usage.map((place) => `GRANT USAGE ON ${place} TO ROLE KTX_READER;`),
    ...(places ?? [`DATABASE ${name}`]).flatMap((place) =>
      kinds.flatMap((kind) =>
        ['ALL', 'FUTURE'].map(
          (which) => `GRANT SELECT ON ${which} ${kind} IN ${place} TO ROLE KTX_READER;`,
        ),
      ),
    ),
  ];
}
