import type { DuckdbRows } from '../duckdb-rows.ts';
import type { TableName } from './statements.ts';
import { wireField, type WireField } from './wire.ts';

/** What DuckDB does not know about the tables. */
export interface CatalogOptions {
  /** The datasets of each project, which are schemas of DuckDB. */
  readonly datasets: Readonly<Record<string, readonly string[]>>;
  /** Other types than TABLE and VIEW, by `dataset.table`. */
  readonly types: Readonly<Record<string, string>>;
  readonly requiredFilters: Readonly<Record<string, string>>;
  /** Tables that are partitioned by the time at which rows arrived. */
  readonly ingestionPartitioned: readonly string[];
}

interface TableRow {
  readonly table: string;
  readonly type: string;
  readonly comment: string | null;
}

export function openCatalog(database: DuckdbRows, options: CatalogOptions) {
  const read = async (sql: string) => (await database.run(sql, { dialect: 'duckdb' })).rows;
  const listTables = async (dataset: string): Promise<readonly TableRow[]> => {
    const rows =
      await read(`SELECT table_name, 'TABLE', comment FROM duckdb_tables() WHERE schema_name = ${text(dataset)}
      UNION ALL SELECT view_name, 'VIEW', comment FROM duckdb_views() WHERE schema_name = ${text(dataset)} AND NOT internal AND NOT ends_with(view_name, '*')
      ORDER BY 1`);
    return rows.map(([table, type, comment]) => ({
      table: table ?? '',
      type: options.types[`${dataset}.${table}`] ?? type ?? '',
      comment: comment ?? null,
    }));
  };
  const readFields = async (dataset: string, table: string): Promise<readonly WireField[]> => {
    const rows =
      await read(`SELECT column_name, data_type, is_nullable, comment FROM duckdb_columns()
      WHERE schema_name = ${text(dataset)} AND table_name = ${text(table)} ORDER BY column_index`);
    return rows.map(([name, type, nullable, comment]) => {
      const field = wireField({ name: name ?? '', type: type ?? '' });
      const mode = nullable === 'false' && field.mode === 'NULLABLE' ? 'REQUIRED' : field.mode;
      return {
        ...field,
        mode,
        ...(comment !== null && comment !== undefined && { description: comment }),
      };
    });
  };
  /** Rows, and a number that changes with any of them. */
  const readContent = async (dataset: string, table: string) => {
    const [row] = await read(
      `SELECT count(*), coalesce(bit_xor(hash(t)) % 1000000000, 0) FROM ${quoted(dataset)}.${quoted(table)} AS t`,
    );
    return { rows: Number(row?.[0] ?? 0), content: Number(row?.[1] ?? 0) };
  };
  const readKeys = async (dataset: string, table: string) => {
    const rows =
      await read(`SELECT constraint_type, array_to_string(constraint_column_names, chr(31)), referenced_table, array_to_string(referenced_column_names, chr(31))
      FROM duckdb_constraints() WHERE schema_name = ${text(dataset)} AND table_name = ${text(table)}`);
    return rows.map(([kind, columns, toTable, toColumns]) => ({
      kind: kind ?? '',
      columns: (columns ?? '').split('\u001F'),
      toTable: toTable ?? '',
      toColumns: (toColumns ?? '').split('\u001F'),
    }));
  };
  const knows = async (dataset: string, table: string): Promise<boolean> => {
    const rows = await read(
      `SELECT 1 FROM duckdb_columns() WHERE schema_name = ${text(dataset)} AND table_name = ${text(table)} LIMIT 1`,
    );
    return rows.length > 0;
  };
  /** A view of all tables whose names begin so, if there are any. */
  const addWildcard = async (dataset: string, wildcard: string): Promise<void> => {
    const prefix = wildcard.slice(0, -1);
    const tables = (await listTables(dataset)).filter(
      ({ table, type }) => type === 'TABLE' && table.startsWith(prefix),
    );
    if (tables.length === 0) return;
    const parts = tables.map(
      ({ table }) =>
        `SELECT *, ${text(table.slice(prefix.length))} AS _TABLE_SUFFIX FROM ${quoted(dataset)}.${quoted(table)}`,
    );
    await database.execute(
      `CREATE OR REPLACE VIEW ${quoted(dataset)}.${quoted(wildcard)} AS ${parts.join(' UNION ALL BY NAME ')}`,
    );
  };
  return {
    listTables,
    /** Undefined if there is no such table. */
    async describe(projectId: string, datasetId: string, tableId: string) {
      const found = (await listTables(datasetId)).find(({ table }) => table === tableId);
      if (found === undefined) return undefined;
      const place = `${datasetId}.${tableId}`;
      const fields = await readFields(datasetId, tableId);
      const { rows, content } = await readContent(datasetId, tableId);
      const keys = await readKeys(datasetId, tableId);
      const filtered = options.requiredFilters[place];
      const isStored = found.type === 'TABLE';
      return {
        kind: 'bigquery#table',
        id: `${projectId}:${place}`,
        tableReference: { projectId, datasetId, tableId },
        type: found.type,
        ...(found.comment !== null && { description: found.comment }),
        schema: { fields },
        ...(isStored && {
          numRows: String(rows),
          numBytes: String(rows * fields.length * 8),
          numLongTermBytes: '0',
        }),
        creationTime: '1764300000000',
        lastModifiedTime: String(1764300000000 + content),
        ...(filtered !== undefined && {
          requirePartitionFilter: true,
          timePartitioning: { type: 'DAY', field: filtered },
        }),
        ...(options.ingestionPartitioned.includes(place) && { timePartitioning: { type: 'DAY' } }),
        ...(isStored && { tableConstraints: constraintsOf(keys, { projectId, datasetId }) }),
      };
    },
    async sizeOf({ datasetId, tableId }: TableName): Promise<number | undefined> {
      if (tableId.endsWith('*')) await addWildcard(datasetId, tableId);
      if (!(await knows(datasetId, tableId))) return undefined;
      const { rows } = await readContent(datasetId, tableId);
      return rows * (await readFields(datasetId, tableId)).length * 8;
    },
    /** A view for the days of each table, and views like those of INFORMATION_SCHEMA. */
    async addViews(): Promise<void> {
      await database.execute('CREATE SCHEMA bq_meta');
      for (const dataset of Object.values(options.datasets).flat()) {
        await database.execute(metaViews(dataset, options));
        const tables = await listTables(dataset);
        const prefixes = tables.flatMap(({ table }) => /^(.+)\d{8}$/s.exec(table)?.[1] ?? []);
        for (const prefix of new Set(prefixes)) await addWildcard(dataset, `${prefix}*`);
      }
    },
  };
}

export type TestCatalog = ReturnType<typeof openCatalog>;

type Key = {
  readonly kind: string;
  readonly columns: readonly string[];
  readonly toTable: string;
  readonly toColumns: readonly string[];
};

function constraintsOf(
  keys: readonly Key[],
  place: { readonly projectId: string; readonly datasetId: string },
) {
  const primary = keys.find(({ kind }) => kind === 'PRIMARY KEY');
  const foreign = keys.filter(({ kind }) => kind === 'FOREIGN KEY');
  return {
    ...(primary !== undefined && { primaryKey: { columns: primary.columns } }),
    foreignKeys: foreign.map(({ columns, toTable, toColumns }, index) => ({
      name: `fk$${index + 1}`,
      referencedTable: { ...place, tableId: toTable },
      columnReferences: columns.map((referencingColumn, position) => ({
        referencingColumn,
        referencedColumn: toColumns[position],
      })),
    })),
  };
}

/** The documented columns, as far as ktx reads them. */
function metaViews(dataset: string, { requiredFilters }: CatalogOptions): string {
  const view = (kind: string): string => `CREATE VIEW bq_meta.${quoted(`${dataset}.${kind}`)} AS`;
  const where = `schema_name = ${text(dataset)} AND NOT ends_with(table_name, '*')`;
  const filters = Object.entries(requiredFilters).flatMap(([place, column]) => {
    const [owner, table = ''] = place.split('.');
    return owner === dataset ? [{ table, column }] : [];
  });
  const partitions = filters.map(
    ({ table, column }) => `(table_name = ${text(table)} AND column_name = ${text(column)})`,
  );
  const type = `CASE data_type WHEN 'VARCHAR' THEN 'STRING' WHEN 'INTEGER' THEN 'INT64' WHEN 'BIGINT' THEN 'INT64' WHEN 'DOUBLE' THEN 'FLOAT64'
    WHEN 'BOOLEAN' THEN 'BOOL' WHEN 'TIMESTAMP' THEN 'DATETIME' WHEN 'TIMESTAMP WITH TIME ZONE' THEN 'TIMESTAMP'
    WHEN 'VARCHAR[]' THEN 'ARRAY<STRING>' ELSE replace(replace(data_type, 'DECIMAL', 'NUMERIC'), ',', ', ') END`;
  return [
    `${view('COLUMNS')} SELECT table_name, column_name, column_index AS ordinal_position, ${type} AS data_type,
      CASE WHEN is_nullable THEN 'YES' ELSE 'NO' END AS is_nullable, 'NO' AS is_hidden,
      CASE WHEN ${partitions.length === 0 ? 'false' : partitions.join(' OR ')} THEN 'YES' ELSE 'NO' END AS is_partitioning_column
      FROM duckdb_columns() WHERE ${where}`,
    `${view('COLUMN_FIELD_PATHS')} SELECT table_name, column_name, column_name AS field_path, comment AS description
      FROM duckdb_columns() WHERE ${where}`,
    `${view('TABLE_OPTIONS')} SELECT table_name, 'description' AS option_name, '"' || comment || '"' AS option_value FROM duckdb_tables() WHERE ${where} AND comment IS NOT NULL
      ${filters.map(({ table }) => `UNION ALL SELECT ${text(table)}, 'require_partition_filter', 'true'`).join(' ')}`,
    `${view('__TABLES__')} SELECT table_name AS table_id, estimated_size AS row_count, estimated_size * column_count * 8 AS size_bytes, 1764300000000 AS last_modified_time
      FROM duckdb_tables() WHERE ${where}`,
    `${view('TABLE_CONSTRAINTS')} SELECT table_name, table_name || '.' || constraint_index AS constraint_name, constraint_type
      FROM duckdb_constraints() WHERE ${where} AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')`,
    `${view('KEY_COLUMN_USAGE')} SELECT table_name || '.' || constraint_index AS constraint_name, unnest(constraint_column_names) AS column_name, unnest(range(1, len(constraint_column_names) + 1)) AS ordinal_position
      FROM duckdb_constraints() WHERE ${where} AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')`,
    `${view('CONSTRAINT_COLUMN_USAGE')} SELECT table_name || '.' || constraint_index AS constraint_name, referenced_table AS table_name, unnest(referenced_column_names) AS column_name
      FROM duckdb_constraints() WHERE ${where} AND constraint_type = 'FOREIGN KEY'`,
  ].join('; ');
}

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function quoted(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}
