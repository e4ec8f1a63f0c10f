import { z } from 'zod';
import type { ColumnSchema, TableSchema } from '../../../warehouse.ts';
import { type ApiField, fieldSchema, fieldTypeOf, nativeTypeOf } from '../values.ts';
import type { ProjectDataset } from './datasets.ts';
import type { TableGroup } from './shards.ts';

const countSchema = z.coerce.number().optional();

/** What `tables.get` says. */
export const tableResourceSchema = z.looseObject({
  type: z.string().default('TABLE'),
  description: z.string().optional(),
  schema: z.looseObject({ fields: z.array(fieldSchema).default([]) }).optional(),
  numRows: countSchema,
  numBytes: countSchema,
  lastModifiedTime: z.string().optional(),
  requirePartitionFilter: z.boolean().optional(),
  timePartitioning: z
    .looseObject({ field: z.string().optional(), requirePartitionFilter: z.boolean().optional() })
    .optional(),
  rangePartitioning: z.looseObject({ field: z.string().optional() }).optional(),
  tableConstraints: z
    .looseObject({
      primaryKey: z.looseObject({ columns: z.array(z.string()) }).optional(),
      foreignKeys: z
        .array(
          z.looseObject({
            referencedTable: z.looseObject({
              datasetId: z.string(),
              tableId: z.string(),
            }),
            columnReferences: z.array(
              z.looseObject({ referencingColumn: z.string(), referencedColumn: z.string() }),
            ),
          }),
        )
        .default([]),
    })
    .optional(),
});
type TableResource = z.infer<typeof tableResourceSchema>;

const kinds: Readonly<Record<string, TableSchema['kind']>> = {
  VIEW: 'view',
  MATERIALIZED_VIEW: 'materialized_view',
  EXTERNAL: 'foreign_table',
};

export function tableKind(type: string): TableSchema['kind'] {
  return kinds[type] ?? 'table';
}

/** The columns that BigQuery adds to a table and that `SELECT *` leaves out. */
export function pseudoColumns(added: {
  readonly isSharded: boolean;
  readonly hasIngestionTime: boolean;
}): readonly ColumnSchema[] {
  const suffix: ColumnSchema = {
    name: '_TABLE_SUFFIX',
    nativeType: 'STRING',
    type: 'string',
    nullable: false,
    comment: 'The end of the name of the table that a row is in, a day like 20260131.',
  };
  const ingested: ColumnSchema = {
    name: '_PARTITIONTIME',
    nativeType: 'TIMESTAMP',
    type: 'datetime_tz',
    nullable: true,
    comment: 'The day or hour in which the row was loaded.',
  };
  return [...(added.isSharded ? [suffix] : []), ...(added.hasIngestionTime ? [ingested] : [])];
}

/** The comment of a table, with the column that every query of it must filter. */
export function tableComment(
  description: string | undefined,
  filtered: string | undefined,
): string | undefined {
  const rule = filtered === undefined ? undefined : `Queries must filter ${filtered}.`;
  const parts = [description, rule].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? undefined : parts.join(' ');
}

/** A table as `tables.get` describes it; of a table in days, its last day stands for all. */
export function describeResource(
  { dataset, catalog }: ProjectDataset,
  group: Pick<TableGroup<unknown>, 'name' | 'shards'>,
  resource: TableResource,
): TableSchema {
  const kind = tableKind(resource.type);
  return {
    ...(catalog !== undefined && { catalog }),
    schema: dataset,
    table: group.name,
    kind,
    comment: tableComment(resource.description, requiredFilter(resource)),
    columns: [
      ...(resource.schema?.fields ?? []).map(columnOf),
      ...pseudoColumns({
        isSharded: group.shards !== undefined,
        hasIngestionTime: isPartitionedByArrival(resource),
      }),
    ],
    primaryKey: resource.tableConstraints?.primaryKey?.columns,
    uniqueKeys: [],
    foreignKeys: foreignKeysOf(resource, catalog),
    marker: kind === 'table' ? markerOf(group, resource) : undefined,
    ...(kind === 'table' || kind === 'materialized_view' ? sizesOf(group, resource) : {}),
  };
}

function isPartitionedByArrival({ timePartitioning: time }: TableResource): boolean {
  return time !== undefined && time.field === undefined;
}

/** The column that every query of the table must filter. */
function requiredFilter(resource: TableResource): string | undefined {
  const { timePartitioning: time, rangePartitioning: range } = resource;
  const isRequired = resource.requirePartitionFilter ?? time?.requirePartitionFilter ?? false;
  return isRequired ? (time?.field ?? range?.field ?? '_PARTITIONTIME') : undefined;
}

function sizesOf(
  { shards = 1 }: Pick<TableGroup<unknown>, 'shards'>,
  { numRows, numBytes }: TableResource,
): Pick<TableSchema, 'rowEstimate' | 'bytes'> {
  return {
    rowEstimate: numRows === undefined ? undefined : numRows * shards,
    bytes: numBytes === undefined ? undefined : numBytes * shards,
  };
}

function columnOf(field: ApiField): ColumnSchema {
  return {
    name: field.name,
    nativeType: nativeTypeOf(field),
    type: fieldTypeOf(field),
    nullable: field.mode !== 'REQUIRED',
    comment: field.description || undefined,
  };
}

function markerOf(
  { shards }: Pick<TableGroup<unknown>, 'shards'>,
  { lastModifiedTime, numRows, numBytes }: TableResource,
): string | undefined {
  if (lastModifiedTime === undefined) return undefined;
  return [shards, lastModifiedTime, numRows, numBytes]
    .filter((part) => part !== undefined)
    .join(':');
}

/** A foreign key of BigQuery leads to a table of the same project. */
function foreignKeysOf(
  { tableConstraints }: TableResource,
  catalog: string | undefined,
): TableSchema['foreignKeys'] {
  return (tableConstraints?.foreignKeys ?? []).map(({ referencedTable, columnReferences }) => ({
    columns: columnReferences.map(({ referencingColumn }) => referencingColumn),
    to: {
      table: {
        ...(catalog !== undefined && { catalog }),
        schema: referencedTable.datasetId,
        table: referencedTable.tableId,
      },
      columns: columnReferences.map(({ referencedColumn }) => referencedColumn),
    },
  }));
}
