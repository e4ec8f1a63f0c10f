import { z } from 'zod';
import type {
  Catalog,
  CatalogTable,
  KeyFinding,
  LinkFinding,
  ScanFindings,
} from '../context/catalog/catalog.ts';
import { datasetNames } from '../context/catalog/dataset-names.ts';
import type { Claim } from '../context/claims/claim.ts';
import { parseSubject } from '../context/claims/subject.ts';
import { tableKey } from '../sql/dialect.ts';
import { withTimeTypes } from './facts/time-types.ts';
import { linkJudge } from './describe/ask-link-judge.ts';
import { isForReview } from './links/polymorphic.ts';
import type { TableProfile } from './profile/table-profile.ts';
import { sortByKey } from './sort-by-key.ts';
import { tableClaims } from './table-claims.ts';

/** Without them, types are as declared. */
interface Profiles {
  readonly tables?: readonly {
    readonly table: CatalogTable;
    readonly profile: TableProfile | undefined;
  }[];
}

/**
 * The claims of a scan, in an order that does not depend on the order of the findings. Evidence is
 * coarse, so that a day's new rows change no byte. Accepted findings become claims, joins that a
 * person should decide become claims of possible joins, and `ktx scan` shows the others.
 */
export function scanClaims(findings: ScanFindings & Profiles): Claim[] {
  const names = datasetNames(findings.catalog);
  const isAccepted = ({ status }: KeyFinding | LinkFinding): boolean => status === 'accepted';
  const acceptedLinks = findings.links.filter(isAccepted);
  const keysByTable = Map.groupBy(findings.primaryKeys.filter(isAccepted), ({ table }) =>
    tableKey(table),
  );
  const linksFrom = Map.groupBy(acceptedLinks, ({ from }) => tableKey(from.table));
  const linksInDoubt = Map.groupBy(findings.links.filter(isForReview), ({ from }) =>
    tableKey(from.table),
  );
  const linksTo = Map.groupBy(acceptedLinks, ({ to }) => tableKey(to.table));
  const profiles = new Map(
    findings.tables?.map(({ table, profile }) => [tableKey(table), profile]),
  );
  const claims = findings.catalog.tables.flatMap((table) => {
    const key = tableKey(table);
    return tableClaims(table, findings.catalog.connection, {
      names,
      keys: keysByTable.get(key) ?? [],
      linksFrom: linksFrom.get(key) ?? [],
      linksTo: linksTo.get(key) ?? [],
      linksInDoubt: linksInDoubt.get(key) ?? [],
      typed: withTimeTypes(table, profiles.get(key)),
    });
  });
  return sortByKey(claims, ({ subject, kind, body }) => [subject, kind, body]);
}

const joinSchema = z.object({ to: z.string(), on: z.record(z.string(), z.string()) });

/**
 * The links that a model decided in earlier scans, read from claims: a clone of the project has
 * them too.
 */
export function judgedLinks(
  claims: readonly Claim[],
  catalog: Catalog,
): Pick<LinkFinding, 'from' | 'to'>[] {
  const names = datasetNames(catalog);
  const tables = new Map(catalog.tables.map((table) => [names.dataset(table), table]));
  /** Undefined if the dataset or a field no longer exists. */
  const findColumns = (
    dataset: string,
    fields: readonly string[],
  ): LinkFinding['from'] | undefined => {
    const table = tables.get(dataset);
    if (table === undefined) return undefined;
    const columns = fields.flatMap((field) => columnOfField(table, field) ?? []);
    return columns.length < fields.length ? undefined : { table, columns };
  };
  const columnOfField = (table: CatalogTable, field: string): string | undefined =>
    table.columns.find(({ name }) => names.field(table, name) === field)?.name;
  return claims.flatMap(({ subject, kind, body, evidence }) => {
    const isJudged = evidence.some(({ extractor }) => extractor === linkJudge);
    const join = joinSchema.safeParse(body).data;
    if (kind !== 'relationship' || join === undefined || !isJudged) return [];
    const from = findColumns(parseSubject(subject)?.dataset ?? '', Object.keys(join.on));
    const to = findColumns(join.to, Object.values(join.on));
    return from && to ? [{ from, to }] : [];
  });
}
