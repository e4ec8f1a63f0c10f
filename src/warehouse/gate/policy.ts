import type { Dialect, TableRef } from '../../sql/dialect.ts';

/**
 * What one engine contributes to the gate: a parser, a list of safe functions, and rules for
 * resolving table names.
 */
export interface GatePolicy {
  /** Lower-case names of functions that compute a value and do nothing else. */
  readonly safeFunctions: ReadonlySet<string>;
  /**
   * Parses a statement. Throws `gate_refused` for more than one statement and for a statement or
   * node that is not allowed, and `sql_syntax` for text that cannot be parsed.
   */
  inspect(sql: string): Promise<StatementFacts>;
  /** The partitioned table of which this name is a partition; catalogs list only the former. */
  partitionedTable?(name: UnresolvedTable): Promise<TableRef | undefined>;
  /**
   * True if the name resolves to this table under the engine's rules for letter case and default
   * schema.
   */
  resolvesTo(name: UnresolvedTable, table: TableRef): boolean;
}

/** What a statement uses, according to the parser. */
export interface StatementFacts {
  /** Lower case; without schema if the function is in the system's own schema. */
  readonly functions: readonly string[];
  /** Names of CTEs that are in scope are left out. */
  readonly tables: readonly UnresolvedTable[];
}

/** A table name as the statement has it, with the case folding that the engine applies. */
export interface UnresolvedTable {
  readonly catalog?: string | undefined;
  readonly schema?: string | undefined;
  readonly table: string;
}

/**
 * Name resolution for engines that ignore letter case and look only in their default schema.
 * `database` may stand before a table or before its schema.
 */
export function resolveIgnoringCase(
  { defaultSchema }: Dialect,
  database?: string,
): GatePolicy['resolvesTo'] {
  const equal = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && a.toLowerCase() === b?.toLowerCase();
  return ({ catalog, schema = defaultSchema, table: name }, table) => {
    const isDatabaseInPlaceOfSchema =
      catalog === undefined && equal(schema, database) && equal(defaultSchema, table.schema);
    const isInSchema = equal(schema, table.schema) || isDatabaseInPlaceOfSchema;
    const isInCatalog = catalog === undefined || equal(catalog, database);
    return isInSchema && isInCatalog && equal(name, table.table);
  };
}
