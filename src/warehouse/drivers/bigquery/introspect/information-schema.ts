import { bigquery } from '../../../../sql/dialects/bigquery.ts';
import type { RunCatalogQuery } from '../../../table-schemas.ts';
import type { ColumnSchema, ForeignKey, TableSchema } from '../../../warehouse.ts';
import { fieldTypeOfSql } from '../values.ts';
import type { ProjectDataset, ListedTable } from './datasets.ts';
import { pseudoColumns, tableComment, tableKind } from './described-table.ts';
import type { TableGroup } from './shards.ts';

interface ViewColumnRow {
  readonly table: string;
  readonly name: string;
  readonly nativeType: string;
  readonly nullable: boolean;
  readonly comment: string | null;
  /** Of a table that is partitioned by this column. */
  readonly partitions: boolean;
}
interface OptionRow {
  readonly table: string;
  readonly name: string;
  readonly value: string;
}
interface StorageRow {
  readonly table: string;
  readonly rows: number | null;
  readonly bytes: number | null;
  readonly modified: number | string | null;
}
interface KeyRow {
  readonly table: string;
  readonly name: string;
  readonly kind: string;
  readonly column: string;
  readonly toTable: string | null;
  readonly toColumn: string | null;
}
interface DatasetRows {
  readonly columns: ReadonlyMap<string, readonly ViewColumnRow[]>;
  readonly options: ReadonlyMap<string, readonly OptionRow[]>;
  readonly storage: ReadonlyMap<string, readonly StorageRow[]>;
  readonly keys: ReadonlyMap<string, readonly KeyRow[]>;
}

/** Reads what a dataset says about its tables, with four statements however many there are. */
export async function readInformationSchema(
  {
    dataset,
    groups,
  }: { readonly dataset: ProjectDataset; readonly groups: readonly TableGroup<ListedTable>[] },
  query: RunCatalogQuery,
): Promise<readonly TableSchema[]> {
  const place = `${bigquery.quote(dataset.project)}.${bigquery.quote(dataset.dataset)}`;
  const [columns, options, storage, keys] = await Promise.all(
    [columnsSql, optionsSql, storageSql, keysSql].map((statement) => query(statement(place))),
  );
  const rows: DatasetRows = {
    columns: byTable(columns as ViewColumnRow[]),
    options: byTable(options as OptionRow[]),
    storage: byTable(storage as StorageRow[]),
    keys: byTable(keys as KeyRow[]),
  };
  return groups.flatMap((group) => {
    const own = rows.columns.get(group.latest.table);
    // It was dropped since it was listed.
    return own === undefined ? [] : [describeGroup({ dataset, group, own }, rows)];
  });
}

const columnsSql = (
  place: string,
): string => `SELECT c.table_name AS \`table\`, c.column_name AS name,
    c.data_type AS nativeType, c.is_nullable = 'YES' AS nullable, f.description AS comment,
    c.is_partitioning_column = 'YES' AS partitions
  FROM ${place}.INFORMATION_SCHEMA.COLUMNS AS c
  LEFT JOIN ${place}.INFORMATION_SCHEMA.COLUMN_FIELD_PATHS AS f
    ON f.table_name = c.table_name AND f.column_name = c.column_name AND f.field_path = c.column_name
  WHERE c.is_hidden = 'NO' OR c.column_name = '_PARTITIONTIME'
  ORDER BY c.table_name, c.ordinal_position`;

const optionsSql = (place: string): string => `SELECT table_name AS \`table\`, option_name AS name,
    option_value AS value
  FROM ${place}.INFORMATION_SCHEMA.TABLE_OPTIONS
  WHERE option_name IN ('description', 'require_partition_filter')`;

const storageSql = (place: string): string => `SELECT table_id AS \`table\`, row_count AS \`rows\`,
    size_bytes AS bytes, last_modified_time AS modified
  FROM ${place}.__TABLES__`;

const keysSql = (
  place: string,
): string => `SELECT t.table_name AS \`table\`, t.constraint_name AS name,
    t.constraint_type AS kind, k.column_name AS \`column\`, u.table_name AS toTable,
    u.column_name AS toColumn
  FROM ${place}.INFORMATION_SCHEMA.TABLE_CONSTRAINTS AS t
  JOIN ${place}.INFORMATION_SCHEMA.KEY_COLUMN_USAGE AS k ON k.constraint_name = t.constraint_name
  LEFT JOIN ${place}.INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE AS u
    ON u.constraint_name = t.constraint_name AND t.constraint_type = 'FOREIGN KEY'
  ORDER BY t.constraint_name, k.ordinal_position`;

function byTable<Row extends { readonly table: string }>(rows: readonly Row[]) {
  return Map.groupBy(rows, ({ table }) => table);
}

interface DescribedGroup {
  readonly dataset: ProjectDataset;
  readonly group: TableGroup<ListedTable>;
  readonly own: readonly ViewColumnRow[];
}

function describeGroup(
  { dataset: { dataset, catalog }, group, own }: DescribedGroup,
  { options, storage, keys }: DatasetRows,
): TableSchema {
  const { name, latest, shards } = group;
  const kind = tableKind(latest.type);
  const optionNamed = (wanted: string): string | undefined =>
    options.get(latest.table)?.find((option) => option.name === wanted)?.value;
  const mustFilter = optionNamed('require_partition_filter') === 'true';
  const filtered = own.find(({ partitions }) => partitions)?.name ?? '_PARTITIONTIME';
  const [stored] = storage.get(latest.table) ?? [];
  const counted = kind === 'table' ? stored : undefined;
  const keyRows = Map.groupBy(keys.get(latest.table) ?? [], (key) => key.name);
  const keyList = [...keyRows.values()];
  const hasIngestionTime = own.some((column) => column.name === '_PARTITIONTIME');
  return {
    ...(catalog !== undefined && { catalog }),
    schema: dataset,
    table: name,
    kind,
    comment: tableComment(unquoted(optionNamed('description')), mustFilter ? filtered : undefined),
    columns: [
      ...own.filter((column) => column.name !== '_PARTITIONTIME').map(columnOf),
      ...pseudoColumns({ isSharded: shards !== undefined, hasIngestionTime }),
    ],
    primaryKey: keyList.find(([key]) => key?.kind === 'PRIMARY KEY')?.map(({ column }) => column),
    uniqueKeys: [],
    foreignKeys: keyList
      .filter(([key]) => key?.kind === 'FOREIGN KEY')
      .map((parts) => foreignKey(parts, { schema: dataset, catalog })),
    marker:
      counted === undefined
        ? undefined
        : [shards, counted.modified, counted.rows, counted.bytes]
            .filter((part) => part !== undefined)
            .join(':'),
    rowEstimate: multiplied(counted?.rows, shards),
    bytes: multiplied(counted?.bytes, shards),
  };
}

/** Of a table in days, the last day stands for all. */
function multiplied(count: number | null | undefined, shards = 1): number | undefined {
  return count === null || count === undefined ? undefined : count * shards;
}

function columnOf({ name, nativeType, nullable, comment }: ViewColumnRow): ColumnSchema {
  return {
    name,
    nativeType,
    type: fieldTypeOfSql(nativeType),
    nullable,
    comment: comment || undefined,
  };
}

/** The view of the referred columns has no order: with several, only equal names are paired. */
function foreignKey(
  parts: readonly KeyRow[],
  { schema, catalog }: { readonly schema: string; readonly catalog: string | undefined },
): ForeignKey {
  const columns = [...new Set(parts.map(({ column }) => column))];
  const referred = [...new Set(parts.map(({ toColumn }) => toColumn ?? ''))];
  const paired = columns.length === 1 ? referred : columns;
  const table = parts[0]?.toTable ?? '';
  return {
    columns,
    to: { table: { ...(catalog !== undefined && { catalog }), schema, table }, columns: paired },
  };
}

/** An option is SQL text: `"All orders."`. */
function unquoted(literal: string | undefined): string | undefined {
  if (literal === undefined) return undefined;
  const [, text] = /^"(.*)"$/s.exec(literal) ?? [];
  return (text ?? literal).replaceAll(/\\(.)/gs, (_, escaped: string) =>
    escaped === 'n' ? '\n' : escaped,
  );
}
