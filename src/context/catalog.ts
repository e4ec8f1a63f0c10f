import type { Json } from '../lib/json.ts';
import type { TableRef } from '../sql/dialect.ts';
import type { FieldType } from '../sql/field-type.ts';

/**
 * What is known of a warehouse's structure. It is stored in git as `sources/<connection>/<schema>.jsonl`, one line a table,
 * without values, counts or markers. Shapes mirror `warehouse/warehouse.ts`, which this room may not import.
 */
export interface CatalogColumn {
  readonly name: string;
  readonly nativeType: string;
  readonly type: FieldType;
  readonly nullable: boolean;
  readonly comment?: string | undefined;
  readonly values?: readonly string[] | undefined;
}

export interface CatalogTable extends TableRef {
  readonly kind: string;
  readonly comment?: string | undefined;
  readonly columns: readonly CatalogColumn[];
  readonly primaryKey?: readonly string[] | undefined;
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly foreignKeys: readonly {
    readonly columns: readonly string[];
    readonly to: { readonly table: TableRef; readonly columns: readonly string[] };
  }[];
}

export interface Catalog {
  readonly connection: string;
  /** Dialect name; the warehouse's. */
  readonly dialect: string;
  /** The schema whose tables give datasets their bare names. */
  readonly firstSchema: string;
  readonly tables: readonly CatalogTable[];
}

/** Names that artifacts use for physical things; stable for a given catalog. */
export interface DatasetNames {
  dataset(table: TableRef): string;
  field(table: TableRef, column: string): string;
}

export type Status = 'accepted' | 'review' | 'rejected';

/** A primary key that was declared or found. */
export interface KeyFinding {
  readonly table: TableRef;
  readonly columns: readonly string[];
  readonly status: Status;
  readonly origin: 'declared' | 'inferred';
  /** 0..1 */
  readonly probability: number;
  readonly evidence: Readonly<Record<string, Json>>;
}

/** A link between tables that was declared or found: many rows of `from` refer to one row of `to`. */
export interface LinkFinding {
  readonly from: { readonly table: TableRef; readonly columns: readonly string[] };
  readonly to: { readonly table: TableRef; readonly columns: readonly string[] };
  readonly status: Status;
  readonly origin: 'declared' | 'inferred';
  readonly cardinality: 'many_to_one' | 'one_to_one';
  /** Where several links lead from one table to another; from the column's name. */
  readonly role?: string | undefined;
  readonly probability: number;
  /** Measurements and the features that decided, e.g. containment, orphans, range_share, name_similarity. */
  readonly evidence: Readonly<Record<string, Json>>;
}

/** What a scan knows of one warehouse. Profiles and counts stay in `.ktx`. */
export interface ScanFindings {
  readonly catalog: Catalog;
  readonly primaryKeys: readonly KeyFinding[];
  readonly links: readonly LinkFinding[];
}
