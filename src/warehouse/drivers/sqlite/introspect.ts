import { errorMessage } from '../../../lib/error.ts';
import { sqlite } from '../../../sql/dialects/sqlite.ts';
import {
  buildTableSchemas,
  type CatalogColumnRow,
  type CatalogKeyRow,
  type RunCatalogQuery,
  type CatalogTableRow,
} from '../../table-schemas.ts';
import type { Scope, WarehouseSchema } from '../../warehouse.ts';
import { declaredType } from './declared-type.ts';

/**
 * A table of full text search looks like any other; tables of other modules are left out, since
 * nobody knows what they do.
 */
const isFullText = `l.type = 'virtual' AND m.type = 'table' AND (lower(m.sql) GLOB '* using fts[345](*' OR lower(m.sql) GLOB '* using fts[345] (*')`;
const userTables = `pragma_table_list l JOIN sqlite_schema m ON m.name = l.name AND (m.type = l.type OR ${isFullText})
  WHERE l.schema = 'main' AND l.type IN ('table', 'view', 'virtual') AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;
const tablesSql = `SELECT l.name AS id, '${sqlite.defaultSchema}' AS schema, l.name AS "table", m.type AS kind, NULL AS comment, NULL AS "rowEstimate" FROM ${userTables} ORDER BY 1`;
const columnsSql = (type: string): string =>
  `SELECT m.name AS id, c.name, c.type AS "nativeType", c."notnull" = 0 AND NOT (c.pk > 0 AND (m.wr OR upper(c.type) = 'INTEGER' AND
    (SELECT max(pk) FROM pragma_table_info(m.name)) = 1)) AS nullable, NULL AS comment, NULL AS "values"
  FROM (SELECT m.name, l.wr FROM ${userTables} AND m.type = ${type}) m JOIN pragma_table_xinfo(m.name) c WHERE c.hidden <> 1 ORDER BY m.name, c.cid`;
/**
 * CROSS JOIN keeps the order: otherwise SQLite asks for the foreign keys of each table once for
 * every other table. `REFERENCES t` without columns means the primary key of t. An index over an
 * expression has a part without a name and is no key.
 */
const keysSql = `WITH t AS MATERIALIZED (SELECT l.name, m.sql FROM ${userTables} AND m.type = 'table'),
  targets AS MATERIALIZED (SELECT name, lower(name) AS folded FROM t)
  SELECT json_object('id', t.name, 'kind', 'primary', 'columns', json_group_array(c.name ORDER BY c.pk)) AS "key"
    FROM t JOIN pragma_table_info(t.name) c WHERE c.pk > 0 GROUP BY t.name
  UNION ALL SELECT json_object('id', t.name, 'kind', 'unique', 'columns', json_group_array(k.name ORDER BY k.seqno))
    FROM t JOIN pragma_index_list(t.name) i JOIN pragma_index_info(i.name) k
    WHERE i."unique" = 1 AND i.partial = 0 AND i.origin <> 'pk' GROUP BY t.name, i.name HAVING count(k.name) = count(*)
  UNION ALL SELECT json_object('id', name, 'kind', 'foreign', 'columns', json_group_array("from" ORDER BY seq),
      'to', json_object('table', json_object('schema', '${sqlite.defaultSchema}', 'table', target), 'columns', json_group_array("to" ORDER BY seq)))
    FROM (SELECT t.name, f.id, f.seq, f."from", p.name AS target, coalesce(f."to", (SELECT name FROM pragma_table_info(p.name) WHERE pk = f.seq + 1)) AS "to"
      FROM t CROSS JOIN pragma_foreign_key_list(t.name) f CROSS JOIN targets p ON p.folded = lower(f."table"))
    GROUP BY name, id HAVING count("to") = count(*)
  UNION ALL SELECT json_object('id', name, 'kind', 'check', 'columns', json_array(), 'definition', sql) FROM t ORDER BY 1`;

type SqliteColumnRow = Omit<CatalogColumnRow, 'nullable'> & { nullable: number };

/**
 * Sends three statements, and one for all views. If a view no longer resolves, each view needs a
 * statement of its own, and the broken view is left out, with a sentence that says why.
 */
export async function introspectSqlite(
  runQuery: RunCatalogQuery,
  scope: Scope,
  marker: string,
): Promise<WarehouseSchema> {
  let queries = 0;
  const queryRows = async <CatalogRecord>(sql: string): Promise<CatalogRecord[]> => {
    queries += 1;
    return (await runQuery(sql)) as CatalogRecord[];
  };
  const tableRows = await queryRows<CatalogTableRow>(tablesSql);
  const broken: string[] = [];
  const viewColumns = queryRows<SqliteColumnRow>(columnsSql(`'view'`)).catch(async () => {
    const views = tableRows.filter(({ kind }) => kind === 'view');
    const perView = views.map(({ table }) =>
      queryRows<SqliteColumnRow>(columnsSql(`'view' AND l.name = ${sqlite.literal(table)}`)).catch(
        (error: unknown) => {
          broken.push(`the view ${table} is broken and was left out: ${errorMessage(error)}`);
          return [];
        },
      ),
    );
    return (await Promise.all(perView)).flat();
  });
  const columnRows = [
    ...(await queryRows<SqliteColumnRow>(columnsSql(`'table'`))),
    ...(await viewColumns),
  ];
  const columns = columnRows.map((column) => ({ ...column, nullable: column.nullable === 1 }));
  const tablesWithColumns = new Set(columns.map(({ id }) => id));
  const tables = tableRows
    .filter(({ id }) => tablesWithColumns.has(id))
    .map((table) => ({ ...table, marker: table.kind === 'table' ? marker : null }));
  const keys = (await queryRows<{ key: string }>(keysSql)).map(
    ({ key }) => JSON.parse(key) as CatalogKeyRow,
  );
  const schema = buildTableSchemas(
    { tables, columns, keys, queries, fieldType: ({ nativeType }) => declaredType(nativeType) },
    scope,
  );
  return broken.length === 0 ? schema : { ...schema, assumptions: broken.sort() };
}
