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
const columnsSchema = z.array(z.string()).readonly();
const columnSchema = z.object({
  name: z.string(),
  nativeType: z.string(),
  type: z.enum(fieldTypes),
  nullable: z.boolean(),
  comment: z.string().optional(),
  values: columnsSchema.optional().describe('Declared, never sampled.'),
});
const referredSchema = z.object({ table: tableRefSchema.readonly(), columns: columnsSchema });
const foreignKeySchema = z.object({ columns: columnsSchema, to: referredSchema.readonly() });

/**
 * What is known of a table's structure, without values, counts or markers: one line of `sources/<connection>/<schema>.jsonl`.
 * Shapes mirror `warehouse/warehouse.ts`, which this room may not import.
 */
export const catalogTableSchema = tableRefSchema.extend({
  kind: z.string(),
  comment: z.string().optional(),
  columns: z.array(columnSchema.readonly()).readonly(),
  primaryKey: columnsSchema.optional(),
  uniqueKeys: z.array(columnsSchema).readonly(),
  foreignKeys: z.array(foreignKeySchema.readonly()).readonly(),
});
export type CatalogTable = Readonly<z.infer<typeof catalogTableSchema>>;

export interface Catalog {
  readonly connection: string;
  /** Dialect name; the warehouse's. */
  readonly dialect: string;
  /** The schema whose tables give datasets their bare names. */
  readonly firstSchema: string;
  readonly tables: readonly CatalogTable[];
}

/** The path of a schema's structure, relative to the project; a name that is no safe file name gets a suffix of its own. */
export function catalogPath(connection: string, schema: string): string {
  const name = slug(schema);
  const isSafe = name === schema && name !== 'index';
  return `sources/${connection}/${isSafe ? name : `${name}_${shortHash(schema, 6)}`}.jsonl`;
}

/** Names that artifacts use for physical things; stable for a given catalog. */
export interface DatasetNames {
  dataset(table: TableRef): string;
  field(table: TableRef, column: string): string;
}

type Status = 'accepted' | 'review' | 'rejected';

interface Columns {
  readonly table: TableRef;
  readonly columns: readonly string[];
}

interface Finding {
  readonly status: Status;
  /** `judged`: measurements left it in doubt, or did not see it, and a model decided. */
  readonly origin: 'declared' | 'inferred' | 'judged';
  /** 0..1 */
  readonly probability: number;
  /** Measurements and the features that decided, e.g. containment, orphans, range_share, name_similarity. */
  readonly evidence: Readonly<Record<string, Json>>;
}

/** A primary key that was declared or found. */
export interface KeyFinding extends Finding, Columns {}

/** A link between tables that was declared or found: many rows of `from` refer to one row of `to`. */
export interface LinkFinding extends Finding {
  readonly from: Columns;
  readonly to: Columns;
  readonly cardinality: 'many_to_one' | 'one_to_one';
  /** Where several links lead from one table to another; from the column's name. */
  readonly role?: string | undefined;
}

/** What a scan knows of one warehouse. Profiles and counts stay in `.ktx`. */
export interface ScanFindings {
  readonly catalog: Catalog;
  readonly primaryKeys: readonly KeyFinding[];
  readonly links: readonly LinkFinding[];
}
