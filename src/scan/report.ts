import type { TableRef } from '../sql/dialect.ts';
import type { ScanResult } from './scan.ts';

/** `data` of `ktx scan --json`. A table is its bare name in the connection's first schema, else `schema.table`. */
export function scanReport({ catalog, tables, profiled, reused, queries, links, primaryKeys }: ScanResult) {
  const name = ({ schema, table }: TableRef): string => (schema === catalog.firstSchema ? table : `${schema}.${table}`);
  const place = ({ table, columns }: { table: TableRef; columns: readonly string[] }) => ({ table: name(table), columns });
  const rounded = (value: number): number => Math.round(value * 1000) / 1000;
  return {
    tables: tables.length,
    profiled,
    reused,
    queries,
    links: links.map((link) => ({ ...link, from: place(link.from), to: place(link.to), probability: rounded(link.probability) })),
    primary_keys: primaryKeys.map((key) => ({
      ...place(key),
      status: key.status,
      origin: key.origin,
      probability: rounded(key.probability),
    })),
    notes: tables.flatMap(({ table, profile }) => (profile?.note === undefined ? [] : [`${name(table)}: not profiled: ${profile.note}`])),
  };
}
