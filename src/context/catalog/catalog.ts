import { z } from 'zod';
import { shortHash } from '../../lib/hash.ts';
import type { Json } from '../../lib/json.ts';
import type { TableRef } from '../../sql/dialect.ts';
import { fieldTypes } from '../../sql/field-type.ts';
import { slug } from './slug.ts';

const tableRefSchema = z.object({
  catalog: z.string().optional(),
  schema: z.string(),
  table: z.string(),
});
const datasetNameSchema = z.string().regex(/^[a-z_][a-z0-9_]*$/);
const fieldNameSchema = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);
const columnNamesSchema = z.array(z.string()).readonly();
const columnSchema = z.object({
  name: z.string(),
  nativeType: z.string(),
  type: z.enum(fieldTypes),
  nullable: z.boolean(),
  comment: z.string().optional(),
  values: columnNamesSchema.optional().describe('Declared, never sampled.'),
  field: fieldNameSchema.optional().describe('Where its name alone does not say which.'),
});
const referencedColumnsSchema = z.object({
  table: tableRefSchema.readonly(),
  columns: columnNamesSchema,
});
const foreignKeySchema = z.object({
  columns: columnNamesSchema,
  to: referencedColumnsSchema.readonly(),
});

/**
 * The structure of a table, without sampled values and counts: one line of
 * `sources/<connection>/<schema>.jsonl`. The shapes repeat those of `warehouse/warehouse.ts`, which
 * this room may not import.
 */
export const catalogTableSchema = tableRefSchema.extend({
  kind: z.string(),
  comment: z.string().optional(),
  dataset: datasetNameSchema.optional().describe('Where its name alone does not say which.'),
  columns: z.array(columnSchema.readonly()).readonly(),
  primaryKey: columnNamesSchema.optional(),
  uniqueKeys: z.array(columnNamesSchema).readonly(),
  foreignKeys: z.array(foreignKeySchema.readonly()).readonly(),
});
export type CatalogTable = Readonly<z.infer<typeof catalogTableSchema>>;

export interface Catalog {
  readonly connection: string;
  /** The name of the warehouse's dialect. */
  readonly dialect: string;
  /** The schema whose tables become datasets without a schema prefix. */
  readonly firstSchema: string;
  /**
   * How names in other scripts become names of datasets and fields. `latin`: in Latin letters.
   * Undefined, as versions before had it: what is not Latin is left out, or becomes a hash.
   */
  readonly letters?: 'latin' | undefined;
  readonly tables: readonly CatalogTable[];
}

/**
 * The path of a schema's file, relative to the project. A name that is not a safe file name gets a
 * suffix.
 */
export function catalogPath(connection: string, schema: string): string {
  const name = slug(schema);
  const isSafe = name === schema && name !== 'index';
  return `sources/${connection}/${isSafe ? name : `${name}_${shortHash(schema, 6)}`}.jsonl`;
}

/** Where a table stands in the file of its schema: the `location` of evidence. */
export function tableLocation({ catalog, table }: TableRef): string {
  return catalog === undefined ? table : `${catalog}.${table}`;
}

/** The names that artifacts use for physical tables and columns; stable for a given catalog. */
export interface DatasetNames {
  dataset(table: TableRef): string;
  field(table: TableRef, column: string): string;
}

interface TableColumns {
  readonly table: TableRef;
  readonly columns: readonly string[];
}

interface ScanFinding {
  readonly status: 'accepted' | 'review' | 'rejected';
  /** `judged`: measurements left it in doubt or did not find it, and a model decided. */
  readonly origin: 'declared' | 'inferred' | 'judged';
  /** 0..1 */
  readonly probability: number;
  /**
   * The measurements and features that decided, e.g. containment, orphans, range_share,
   * name_similarity.
   */
  readonly evidence: Readonly<Record<string, Json>>;
}

/** A primary key, declared or found. */
export interface KeyFinding extends ScanFinding, TableColumns {}

/** A link between tables, declared or found: many rows of `from` refer to one row of `to`. */
export interface LinkFinding extends ScanFinding {
  readonly from: TableColumns;
  readonly to: TableColumns;
  readonly cardinality: 'many_to_one' | 'one_to_one';
  /** From the column's name; set where several links lead from one table to another. */
  readonly role?: string | undefined;
}

/** The results of the scan of one warehouse. Profiles and counts stay in `.ktx`. */
export interface ScanFindings {
  readonly catalog: Catalog;
  readonly primaryKeys: readonly KeyFinding[];
  readonly links: readonly LinkFinding[];
}
