import type { KeyFinding, LinkFinding, Status } from '../context/catalog.ts';
import type { Json } from '../lib/json.ts';
import type { TableRef } from '../sql/dialect.ts';
import type { ScanResult } from './scan.ts';

interface Place {
  /** The bare name in the connection's first schema, else `schema.table`. */
  readonly table: string;
  readonly columns: readonly string[];
}

/** `data` of `ktx scan --json`. */
export interface ScanReport {
  readonly tables: number;
  readonly profiled: number;
  readonly reused: number;
  readonly queries: number;
  readonly links: readonly {
    readonly from: Place;
    readonly to: Place;
    readonly status: Status;
    readonly origin: LinkFinding['origin'];
    readonly cardinality: LinkFinding['cardinality'];
    readonly role?: string | undefined;
    readonly probability: number;
    readonly evidence: Readonly<Record<string, Json>>;
  }[];
  readonly primary_keys: readonly (Place & Pick<KeyFinding, 'status' | 'origin' | 'probability'>)[];
  /** What was left out, and why. */
  readonly notes: readonly string[];
}

export function scanReport(result: ScanResult): ScanReport {
  const name = ({ schema, table }: TableRef): string => (schema === result.catalog.firstSchema ? table : `${schema}.${table}`);
  const place = ({ table, columns }: { table: TableRef; columns: readonly string[] }): Place => ({ table: name(table), columns });
  return {
    tables: result.tables.length,
    profiled: result.profiled,
    reused: result.reused,
    queries: result.queries,
    links: result.links.map(({ from, to, status, origin, cardinality, role, probability, evidence }) => ({
      from: place(from), to: place(to), status, origin, cardinality, role, probability: Math.round(probability * 1000) / 1000, evidence,
    })), // prettier-ignore
    primary_keys: result.primaryKeys.map((key) => ({ ...place(key), status: key.status, origin: key.origin, probability: Math.round(key.probability * 1000) / 1000 })),
    notes: result.tables.flatMap(({ table, profile }) =>
      profile?.note === undefined ? [] : [`${name(table)}: not profiled: ${profile.note}`],
    ),
  };
}
