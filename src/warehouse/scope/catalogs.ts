import { z } from 'zod';
import type { TableRef } from '../../sql/dialect.ts';
import type { PrivilegeReport, WarehouseSchema } from '../warehouse.ts';

/** A key of drivers whose servers have catalogs. */
export const otherCatalogsSchema = z
  .array(z.string().min(1))
  .min(1)
  .optional()
  .describe(
    'Further catalogs whose tables ktx reads, beside `catalog`. Their tables are named with the catalog: `crm.public.accounts`. `schemas` counts for each of them.',
  );

/** The same key of drivers that call a catalog a database. */
export const otherDatabasesSchema = z
  .array(z.string().min(1))
  .min(1)
  .optional()
  .describe(
    'Further databases whose tables ktx reads, beside `database`. Their tables are named with the database: `crm.public.accounts`. `schemas` counts for each of them.',
  );

/** The catalogs of a connection; the tables of its own one are named without it. */
export interface ConnectionCatalogs {
  readonly own: string;
  readonly further: readonly string[];
}

export const connectionCatalogs = (
  own: string,
  further: readonly string[] = [],
): ConnectionCatalogs => ({ own, further: further.filter((catalog) => catalog !== own) });

/** Reads the catalogs one after the other, those with names of their own last. */
export async function introspectCatalogs(
  { own, further }: ConnectionCatalogs,
  read: (catalog: string) => Promise<WarehouseSchema>,
): Promise<WarehouseSchema> {
  const schema = await read(own);
  const tables = [...schema.tables];
  const assumptions = [...(schema.assumptions ?? [])];
  let { queries } = schema;
  for (const catalog of further.toSorted()) {
    const other = await read(catalog);
    queries += other.queries;
    assumptions.push(...(other.assumptions ?? []).map((text) => `${catalog}: ${text}`));
    const named = <Ref extends TableRef>(ref: Ref): Ref => ({ ...ref, catalog });
    for (const table of other.tables)
      tables.push({
        ...named(table),
        foreignKeys: table.foreignKeys.map(({ columns, to }) => ({
          columns,
          to: { ...to, table: named(to.table) },
        })),
      });
  }
  return { ...schema, tables, queries, ...(assumptions.length > 0 && { assumptions }) };
}

/** What a login may do in any of the catalogs. */
export async function privilegesInCatalogs(
  { own, further }: ConnectionCatalogs,
  read: (catalog: string) => Promise<PrivilegeReport>,
): Promise<PrivilegeReport> {
  const reports: PrivilegeReport[] = [];
  for (const catalog of [own, ...further]) reports.push(await read(catalog));
  const writing = reports.filter(({ readOnly }) => !readOnly);
  const shown = writing.length > 0 ? writing : reports;
  const remedy = [...new Set(writing.flatMap((report) => report.remedy ?? []))];
  return {
    readOnly: writing.length === 0,
    findings: shown.flatMap(({ findings }) => findings),
    remedy: remedy.length > 0 ? remedy : undefined,
  };
}
