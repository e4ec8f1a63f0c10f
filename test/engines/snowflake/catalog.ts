import type { DuckdbRows, EngineRows } from '../duckdb-rows.ts';

/** A row of SHOW GRANTS TO ROLE. */
export interface WireGrant {
  readonly privilege: string;
  readonly granted_on: string;
  readonly name: string;
}

/** What a database of the server has beside its tables. */
export const catalogScript = (database: string): string => `
  CREATE SCHEMA "${database}".META;
  CREATE TABLE "${database}".META.SETTINGS (ALTERED TIMESTAMPTZ);
  INSERT INTO "${database}".META.SETTINGS VALUES ('2026-01-01 00:00:00+00');
  CREATE VIEW "${database}".META.TABLES AS
    SELECT schema_name AS table_schema, table_name, 'BASE TABLE' AS table_type, estimated_size AS row_count,
      estimated_size * 64 AS bytes, (SELECT altered FROM "${database}".META.SETTINGS) AS last_altered, comment
    FROM duckdb_tables() WHERE database_name = '${database}' AND schema_name != 'META'
    UNION ALL SELECT schema_name, view_name, 'VIEW', NULL, NULL, (SELECT altered FROM "${database}".META.SETTINGS), comment
    FROM duckdb_views() WHERE database_name = '${database}' AND schema_name != 'META' AND NOT internal;
  CREATE VIEW "${database}".META.COLUMNS AS
    SELECT schema_name AS table_schema, table_name, column_name, column_index AS ordinal_position,
      CASE WHEN data_type LIKE 'DECIMAL%' OR data_type IN ('INTEGER', 'BIGINT', 'SMALLINT', 'HUGEINT') THEN 'NUMBER'
        WHEN data_type = 'DOUBLE' THEN 'FLOAT' WHEN data_type = 'VARCHAR' THEN 'TEXT' WHEN data_type = 'TIMESTAMP' THEN 'TIMESTAMP_NTZ'
        WHEN data_type = 'TIMESTAMP WITH TIME ZONE' THEN 'TIMESTAMP_TZ' WHEN data_type = 'BLOB' THEN 'BINARY'
        WHEN data_type IN ('BOOLEAN', 'DATE', 'TIME') THEN data_type ELSE 'VARIANT' END AS data_type,
      CASE WHEN data_type LIKE 'DECIMAL%' THEN numeric_precision WHEN data_type IN ('INTEGER', 'BIGINT', 'SMALLINT', 'HUGEINT') THEN 38 END AS numeric_precision,
      CASE WHEN data_type LIKE 'DECIMAL%' THEN numeric_scale WHEN data_type IN ('INTEGER', 'BIGINT', 'SMALLINT', 'HUGEINT') THEN 0 END AS numeric_scale,
      CASE WHEN data_type = 'VARCHAR' THEN 16777216 END AS character_maximum_length,
      CASE WHEN is_nullable THEN 'YES' ELSE 'NO' END AS is_nullable, comment
    FROM duckdb_columns() WHERE database_name = '${database}' AND schema_name != 'META';
  CREATE MACRO "${database}".PUBLIC.to_varchar(x) AS CAST(x AS VARCHAR), (x, f) AS strftime(x, '%Y-%m-%d');`;

const text = (names: readonly string[], rows: EngineRows['rows']): EngineRows => ({
  columns: names.map((name) => ({ name, type: 'VARCHAR' })),
  rows,
});

export function showGrants(grants: readonly WireGrant[], role: string): EngineRows {
  const names =
    'created_on privilege granted_on name granted_to grantee_name grant_option granted_by'.split(
      ' ',
    );
  return text(
    names,
    grants.map(({ privilege, granted_on: on, name }) => [
      '1767225600.000000000',
      privilege,
      on,
      name,
      'ROLE',
      role,
      'false',
      'SECURITYADMIN',
    ]),
  );
}

const keyNames =
  'created_on database_name schema_name table_name column_name key_sequence constraint_name rely comment';
const importedNames =
  'created_on pk_database_name pk_schema_name pk_table_name pk_column_name fk_database_name fk_schema_name fk_table_name fk_column_name key_sequence update_rule delete_rule fk_name pk_name deferrability rely comment';

/** SHOW PRIMARY KEYS, UNIQUE KEYS and IMPORTED KEYS, in the columns of Snowflake. */
export async function showKeys(
  duckdb: DuckdbRows,
  { what, database, schema, most }: ShowKeys,
): Promise<EngineRows> {
  const kind = {
    'PRIMARY KEYS': 'PRIMARY KEY',
    'UNIQUE KEYS': 'UNIQUE',
    'IMPORTED KEYS': 'FOREIGN KEY',
  }[what];
  const { rows } = await duckdb.run(
    `SELECT schema_name, table_name, constraint_column_names::JSON, constraint_name, referenced_table, referenced_column_names::JSON
     FROM duckdb_constraints() WHERE database_name = '${database}' AND constraint_type = '${kind}'
       AND schema_name != 'META' ${schema === undefined ? '' : `AND schema_name = '${schema}'`}`,
    { dialect: 'duckdb' },
  );
  const found = rows.flatMap(([schemaName, table, columns, name, target, targetColumns], index) => {
    const targets = JSON.parse(targetColumns ?? '[]') as string[];
    return (JSON.parse(columns ?? '[]') as string[]).map((column, position) => {
      const [at, sequence] = ['1767225600.000000000', String(position + 1)];
      const constraint = `${name ?? 'SYS_CONSTRAINT'}_${index}`;
      return kind === 'FOREIGN KEY'
        ? [
            at,
            database,
            schemaName,
            target,
            targets[position] ?? '',
            database,
            schemaName,
            table,
            column,
            sequence,
            'NO ACTION',
            'NO ACTION',
            constraint,
            'PK',
            'NOT DEFERRABLE',
            'false',
            '',
          ]
        : [at, database, schemaName, table, column, sequence, constraint, 'false', ''];
    });
  });
  const names = kind === 'FOREIGN KEY' ? importedNames : keyNames;
  return text(
    names.split(' '),
    // A server in no hurry lists them in another order.
    found.toReversed().slice(0, most) as EngineRows['rows'],
  );
}

interface ShowKeys {
  readonly what: 'PRIMARY KEYS' | 'UNIQUE KEYS' | 'IMPORTED KEYS';
  readonly database: string;
  readonly schema?: string | undefined;
  readonly most: number;
}
