import type { CatalogTable } from '../../src/context/catalog/catalog.ts';
import { noLabels } from '../../src/context/catalog/column-labels.ts';
import type { ScanResult } from '../../src/scan/scan.ts';

export interface ScannedTable {
  readonly schema?: string;
  readonly columns?: readonly string[];
  readonly comment?: string;
  readonly columnComment?: string;
  /** Frequent values of the first column. */
  readonly values?: readonly string[];
  readonly type?: string;
}

/** What a scan found, as far as descriptions need it. */
export function scannedTables(tables: Readonly<Record<string, ScannedTable>>): ScanResult {
  const all = Object.entries(tables).map(([table, { schema = 'main', comment, ...given }]) => {
    const { columns = ['id', 'state'], columnComment, type = 'TEXT', values = [] } = given;
    const structure: CatalogTable = {
      schema,
      table,
      kind: 'table',
      comment,
      uniqueKeys: [],
      foreignKeys: [],
      columns: columns.map((name, index) => ({
        name,
        nativeType: type,
        type: 'string',
        nullable: true,
        comment: index === 0 ? columnComment : undefined,
      })),
    };
    const profile = {
      rows: 4,
      fraction: 1,
      columns: columns.map((name, index) => ({
        name,
        kind: 'text',
        nulls: 0,
        distinct: 2,
        sketch: '',
        top: index === 0 ? values : [],
      })),
    };
    return { table: structure, profile };
  });
  return {
    catalog: {
      connection: 'shop',
      dialect: 'sqlite',
      firstSchema: 'main',
      tables: all.map(({ table }) => table),
    },
    primaryKeys: [],
    links: [],
    labels: noLabels,
    tables: all,
  } as unknown as ScanResult;
}
