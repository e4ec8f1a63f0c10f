import { databricks } from '../../../sql/dialects/databricks.ts';
import type { RunCatalogQuery } from '../../table-schemas.ts';

/** Privileges that cannot change anything. */
const reading = new Set([
  'SELECT',
  'USE CATALOG',
  'USE SCHEMA',
  'USAGE',
  'BROWSE',
  'READ VOLUME',
  'READ FILES',
  'EXECUTE',
]);
/** Groups beyond that are not looked at one by one; the login counts as a member. */
const mostGroups = 100;

interface GrantRow {
  readonly grantee: string;
  readonly privilege: string;
  readonly object: string;
}

const grantsSql = (catalog: string): string => {
  const source = (name: string): string => `${catalog}.information_schema.${name}`;
  return `SELECT DISTINCT grantee, privilege_type AS privilege, concat(table_schema, '.', table_name) AS object FROM ${source('table_privileges')}
  UNION SELECT grantee, privilege_type, schema_name FROM ${source('schema_privileges')}
  UNION SELECT grantee, privilege_type, catalog_name FROM ${source('catalog_privileges')}
  UNION SELECT table_owner, 'OWNERSHIP', concat(table_schema, '.', table_name) FROM ${source('tables')} WHERE table_schema <> 'information_schema'
  UNION SELECT schema_owner, 'OWNERSHIP', schema_name FROM ${source('schemata')} WHERE schema_name <> 'information_schema'
  UNION SELECT catalog_owner, 'OWNERSHIP', catalog_name FROM ${source('catalogs')}`;
};

/**
 * Sentences about what the login, or a group that it is in, may do to the catalog besides reading.
 * Unity Catalog shows a login the grants that concern it.
 */
export async function findPrivileges(
  query: RunCatalogQuery,
  catalog: string,
): Promise<readonly string[]> {
  const rows = (await query(grantsSql(databricks.quote(catalog)))) as GrantRow[];
  const writing = rows
    .map((row) => ({ ...row, privilege: row.privilege.replaceAll('_', ' ').toUpperCase() }))
    .filter(({ privilege }) => !reading.has(privilege));
  const grantees = [...new Set(writing.map(({ grantee }) => grantee))];
  const own = await findOwn(query, grantees);
  const byPrivilege = Map.groupBy(
    writing.filter(({ grantee }) => own.has(grantee)),
    ({ privilege }) => privilege,
  );
  return [...byPrivilege].map(([privilege, grants]) => {
    const [first] = grants;
    const more = grants.length > 1 ? ` and ${grants.length - 1} more` : '';
    return `the login has ${privilege} on ${first?.object ?? catalog}${more}`;
  });
}

/** Those of the names that are the login itself, or a group that it is in. */
async function findOwn(
  query: RunCatalogQuery,
  grantees: readonly string[],
): Promise<ReadonlySet<string>> {
  if (grantees.length === 0) return new Set();
  const asked = grantees.slice(0, mostGroups);
  const answers = asked.map((grantee, index) => {
    const name = databricks.literal(grantee);
    return `(current_user() = ${name} OR is_account_group_member(${name})) AS g${index}`;
  });
  const [row = {}] = (await query(`SELECT ${answers.join(', ')}`)) as Record<string, unknown>[];
  const isOwn = (grantee: string, index: number): boolean =>
    index >= mostGroups || grantee === 'account users' || row[`g${index}`] === true;
  return new Set(grantees.filter(isOwn));
}

/** SQL that makes a principal read these schemas and nothing else. */
export function createReaderSql(
  catalog: string,
  schemas: readonly string[] | undefined,
): readonly string[] {
  const name = databricks.quote(catalog);
  const to = 'TO `ktx_reader`;';
  const inSchemas = (schemas ?? []).flatMap((schema) => {
    const whole = `${name}.${databricks.quote(schema)}`;
    return [`GRANT USE SCHEMA, SELECT ON SCHEMA ${whole} ${to}`];
  });
  const everywhere = [`GRANT USE SCHEMA, SELECT ON CATALOG ${name} ${to}`];
  return [
    '-- Make a service principal or a group ktx_reader in the account, then:',
    `GRANT USE CATALOG ON CATALOG ${name} ${to}`,
    ...(inSchemas.length > 0 ? inSchemas : everywhere),
  ];
}
