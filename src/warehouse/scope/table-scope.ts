import { z } from 'zod';
import { matchesGlob } from '../../lib/patterns/glob.ts';
import type { TableRef } from '../../sql/dialect.ts';
import type { UnresolvedTable } from '../gate/policy.ts';
import type { WarehouseSchema } from '../warehouse.ts';

const patternSchema = z
  .string()
  .regex(
    /^[^./\\{}]+(?:\.[^./\\{}]+){0,2}$/,
    'a pattern of table, schema.table or catalog.schema.table, where * stands for any text',
  );

/** Keys of every driver: which tables of the warehouse the connection covers. */
export const tableScopeKeys = {
  tables: z
    .array(patternSchema)
    .min(1)
    .optional()
    .describe(
      'Use only tables that one of these patterns names: `orders_*`, `sales.*`, `catalog.schema.table`. Letter case does not count. Default: every table of the schemas.',
    ),
  exclude_tables: z
    .array(patternSchema)
    .min(1)
    .optional()
    .describe(
      'Leave out tables that one of these patterns names, also those that `tables` names: `tmp_*`, `staging.*`.',
    ),
};

interface TableScopeConfig {
  readonly tables?: readonly string[] | undefined;
  readonly exclude_tables?: readonly string[] | undefined;
}

/** Whether the connection covers a table. */
export type CoversTable = (table: UnresolvedTable) => boolean;

/**
 * The tables that a connection covers. Undefined if it covers all; `ownCatalog` is that of tables
 * that name none.
 */
export function tableScope(
  { tables: included, exclude_tables: excluded = [] }: TableScopeConfig,
  ownCatalog: string | undefined,
): CoversTable | undefined {
  if (included === undefined && excluded.length === 0) return undefined;
  return ({ catalog = ownCatalog, schema, table }) => {
    const names = [catalog ?? '', schema ?? '', table];
    const isNamedBy = (pattern: string) => matchesNames(names, pattern);
    return (included?.some(isNamedBy) ?? true) && !excluded.some(isNamedBy);
  };
}

function matchesNames(names: readonly string[], pattern: string): boolean {
  const parts = pattern.toLowerCase().split('.');
  // A name may have a slash, which would end a part of a glob, or begin with a dot.
  const own = names
    .slice(-parts.length)
    .map((name) => `_${name.toLowerCase().replaceAll('/', '_')}`);
  return matchesGlob(own.join('/'), parts.map((part) => `_${part}`).join('/'));
}

/** The tables that are covered. A foreign key to another one is left out. */
export function coveredTables<Table extends TableRef>(
  tables: readonly Table[],
  covers: CoversTable | undefined,
): readonly Table[] {
  return covers === undefined ? tables : tables.filter(covers);
}

export function coveredSchema(
  schema: WarehouseSchema,
  covers: CoversTable | undefined,
): WarehouseSchema {
  if (covers === undefined) return schema;
  const tables = coveredTables(schema.tables, covers).map((table) => ({
    ...table,
    foreignKeys: table.foreignKeys.filter(({ to }) => covers(to.table)),
  }));
  return { ...schema, tables };
}
