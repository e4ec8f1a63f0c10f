import { snowflake } from '../../../../sql/dialects/snowflake.ts';
import type { CatalogKeyRow, RunCatalogQuery } from '../../../table-schemas.ts';

/** The most rows that SHOW answers with. It takes no offset here. */
const mostShown = 10_000;

interface KeyRows {
  readonly rows: readonly CatalogKeyRow[];
  readonly queries: number;
  /** Schemas that have more keys than Snowflake shows. */
  readonly unread: readonly string[];
}

/** A row of SHOW, whose columns have names in lower case. */
type ShownRow = Readonly<Record<string, string | number | null>>;

const kinds = [
  ['PRIMARY KEYS', 'primary', ''],
  ['UNIQUE KEYS', 'unique', ''],
  ['IMPORTED KEYS', 'foreign', 'fk_'],
] as const;

/**
 * The keys that tables declare. Snowflake enforces none of them. A database with more than SHOW
 * answers with is read schema by schema.
 */
export async function readKeys(
  query: RunCatalogQuery,
  database: string,
  schemas: readonly string[],
): Promise<KeyRows> {
  let queries = 0;
  const unread = new Set<string>();
  const show = async (what: string, place: string): Promise<readonly ShownRow[]> => {
    queries += 1;
    return (await query(`SHOW ${what} IN ${place}`)) as ShownRow[];
  };
  const showAll = async (what: string): Promise<readonly ShownRow[]> => {
    const shown = await show(what, `DATABASE ${snowflake.quote(database)}`);
    if (shown.length < mostShown) return shown;
    const all: ShownRow[] = [];
    for (const schema of schemas) {
      const name = `${snowflake.quote(database)}.${snowflake.quote(schema)}`;
      const rows = await show(what, `SCHEMA ${name}`);
      if (rows.length >= mostShown) unread.add(schema);
      all.push(...rows);
    }
    return all;
  };
  const rows: CatalogKeyRow[] = [];
  for (const [what, kind, prefix] of kinds) rows.push(...keysOf(await showAll(what), kind, prefix));
  return { rows, queries, unread: [...unread] };
}

/** The key of a table among the rows of the catalog. */
export function tableId(schema: string, table: string): string {
  return JSON.stringify([schema, table]);
}

function keysOf(
  shown: readonly ShownRow[],
  kind: 'primary' | 'unique' | 'foreign',
  prefix: string,
): readonly CatalogKeyRow[] {
  const text = (row: ShownRow, column: string): string => String(row[column] ?? '');
  const nameColumn = kind === 'foreign' ? 'fk_name' : 'constraint_name';
  const byKey = Map.groupBy(shown, (row) =>
    JSON.stringify([
      text(row, `${prefix}schema_name`),
      text(row, `${prefix}table_name`),
      text(row, nameColumn),
    ]),
  );
  return [...byKey.values()].flatMap((unordered): readonly CatalogKeyRow[] => {
    const ordered = unordered.toSorted(
      (a, b) => Number(a['key_sequence']) - Number(b['key_sequence']),
    );
    const [first] = ordered;
    if (first === undefined) return [];
    const id = tableId(text(first, `${prefix}schema_name`), text(first, `${prefix}table_name`));
    const columns = ordered.map((row) => text(row, `${prefix}column_name`));
    if (kind !== 'foreign') return [{ id, kind, columns }];
    const to = {
      table: { schema: text(first, 'pk_schema_name'), table: text(first, 'pk_table_name') },
      columns: ordered.map((row) => text(row, 'pk_column_name')),
    };
    const isOfDatabase = first['pk_database_name'] === first['fk_database_name'];
    return isOfDatabase ? [{ id, kind, columns, to }] : [];
  });
}
