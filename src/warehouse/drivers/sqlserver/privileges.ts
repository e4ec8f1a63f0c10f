import { sqlserver } from '../../../sql/dialects/sqlserver.ts';
import type { ConnectionCatalogs } from '../../scope/catalogs.ts';
import type { RunCatalogQuery } from '../../table-schemas.ts';

/** Permissions that cannot change rows or tables. A procedure cannot be called through ktx. */
const reading =
  /^(?:CONNECT|SELECT|EXECUTE|REFERENCES|SHOWPLAN|UNMASK|VIEW .+|AUTHENTICATE|SUBSCRIBE QUERY NOTIFICATIONS)$/;

/** What the login may do in the whole database, through whatever role. */
const databaseSql = `SELECT p.permission_name AS permission
  FROM sys.fn_my_permissions(NULL, 'DATABASE') AS p ORDER BY p.permission_name`;
/** What it, or a role that it is in, may do with a schema or a table, and what it owns. */
const objectsSql = `SELECT p.permission_name AS permission,
  COALESCE(ss.name, so.name) AS [schema], o.name AS [table]
  FROM sys.database_permissions AS p JOIN sys.user_token AS t
  ON t.principal_id = p.grantee_principal_id
  LEFT JOIN sys.schemas AS ss ON p.class = 3 AND ss.schema_id = p.major_id
  LEFT JOIN sys.objects AS o ON p.class = 1 AND o.object_id = p.major_id
  LEFT JOIN sys.schemas AS so ON so.schema_id = o.schema_id
  WHERE p.class IN (1, 3) AND p.state IN ('G', 'W')
  UNION ALL SELECT 'OWNERSHIP', s.name, NULL FROM sys.schemas AS s
  JOIN sys.user_token AS t ON t.principal_id = s.principal_id
  ORDER BY 1, 2, 3`;

export interface LoginRights {
  /** Sentences about what it may do besides reading. */
  readonly findings: readonly string[];
  /** True if the server tells it the plan of a statement. */
  readonly mayAskForPlans: boolean;
}

export async function readRights(query: RunCatalogQuery): Promise<LoginRights> {
  const inDatabase = (await query(databaseSql)) as { readonly permission: string }[];
  const onObjects = (await query(objectsSql)) as {
    readonly permission: string;
    readonly schema: string | null;
    readonly table: string | null;
  }[];
  const names = inDatabase.map(({ permission }) => permission);
  const writing = names.filter((name) => !reading.test(name));
  const byPermission = Map.groupBy(
    onObjects.filter(({ permission }) => !reading.test(permission)),
    ({ permission }) => permission,
  );
  const more = (count: number): string => (count > 1 ? ` and ${count - 1} more` : '');
  return {
    findings: [
      ...(writing.length === 0
        ? []
        : [
            `the login has ${importantFirst(writing)[0]}${more(writing.length)} on the whole database`,
          ]),
      ...[...byPermission].map(([permission, objects]) => {
        const [first] = objects;
        const name = [first?.schema, first?.table].filter((part) => part !== null).join('.');
        return `the login has ${permission} on ${name}${more(objects.length)}`;
      }),
    ],
    mayAskForPlans: names.includes('SHOWPLAN'),
  };
}

/** What a person understands at once. */
function importantFirst(permissions: readonly string[]): readonly string[] {
  const usual = ['CONTROL', 'INSERT', 'UPDATE', 'DELETE', 'ALTER'];
  return permissions.toSorted((a, b) => usual.indexOf(b) - usual.indexOf(a) && rank(a) - rank(b));
  function rank(name: string): number {
    const place = usual.indexOf(name);
    return place < 0 ? usual.length : place;
  }
}

/** SQL that makes a login which reads these schemas, or all of them, and nothing else. */
export function createReaderSql(
  { own, further }: ConnectionCatalogs,
  schemas: readonly string[] | undefined,
): readonly string[] {
  const grants = schemas?.map(
    (schema) => `GRANT SELECT ON SCHEMA::${sqlserver.quote(schema)} TO ktx_reader;`,
  );
  return [
    `CREATE LOGIN ktx_reader WITH PASSWORD = '…';`,
    ...[own, ...further].flatMap((database) => [
      `USE ${sqlserver.quote(database)};`,
      'CREATE USER ktx_reader FOR LOGIN ktx_reader;',
      ...(grants ?? ['ALTER ROLE db_datareader ADD MEMBER ktx_reader;']),
      'GRANT SHOWPLAN TO ktx_reader;',
    ]),
  ];
}
