import type { LinkFinding } from '../context/catalog/catalog.ts';
import { formatCount } from '../lib/format-count.ts';
import { fullTableName, type TableRef } from '../sql/dialect.ts';
import { isPolymorphic } from './links/polymorphic.ts';
import type { ScanResult } from './scan.ts';

/**
 * The `data` of `ktx scan --json`. Tables outside the connection's first schema are named
 * `schema.table`, those of another database or catalog `catalog.schema.table`.
 */
export function scanReport(result: ScanResult) {
  const { catalog, tables, profiled, reused, left, queries, links, primaryKeys } = result;
  const nameOf = (table: TableRef): string =>
    table.catalog === undefined && table.schema === catalog.firstSchema
      ? table.table
      : fullTableName(table);
  const linkEnd = ({ table, columns }: { table: TableRef; columns: readonly string[] }) => ({
    table: nameOf(table),
    columns,
  });
  return {
    tables: tables.length,
    profiled,
    reused,
    left,
    queries,
    links: links.map((link) => ({
      ...link,
      from: linkEnd(link.from),
      to: linkEnd(link.to),
      probability: roundToThousandths(link.probability),
      evidence: reportedEvidence(link.evidence),
    })),
    primary_keys: primaryKeys.map((key) => ({
      ...key,
      ...linkEnd(key),
      probability: roundToThousandths(key.probability),
    })),
    unread_files: result.schema.unreadFiles ?? [],
    notes: [
      ...(result.schema.unreadFiles ?? []).map(({ reason }) => `not read: ${reason}`),
      ...(result.schema.assumptions ?? []),
      ...unreadNotes(result, nameOf),
      ...nameNotes(result),
      ...budgetNotes(result, nameOf),
      ...polymorphicNotes(links, nameOf),
    ],
  };
}

type NameOf = (table: TableRef) => string;

function unreadNotes({ tables }: ScanResult, nameOf: NameOf): string[] {
  return tables.flatMap(({ table, profile }) =>
    profile?.note === undefined ? [] : [`${nameOf(table)}: not profiled: ${profile.note}`],
  );
}

function nameNotes({ names }: ScanResult): string[] {
  return names?.failure === undefined
    ? []
    : [`names are compared by their words alone: ${names.failure.message}`];
}

function budgetNotes({ tables, left }: ScanResult, nameOf: NameOf): string[] {
  if (left === 0) return [];
  const names = tables.flatMap(({ table, outcome }) => (outcome === 'left' ? [nameOf(table)] : []));
  const first = names.slice(0, 5).join(', ');
  return [
    `budget spent: ${formatCount(left, 'table')} not profiled yet (${first}${left > 5 ? ', …' : ''}); the next scan profiles them`,
  ];
}

/** One note per polymorphic column, with the tables that it may refer to. */
function polymorphicNotes(links: readonly LinkFinding[], nameOf: NameOf): string[] {
  const candidates = links.filter(isPolymorphic).map(({ from, to, evidence: { why } }) => {
    const column = `${nameOf(from.table)}(${from.columns.join()})`;
    const reason = typeof why === 'string' ? why : '';
    return { note: `${column} is not joined, ${reason}`, parent: nameOf(to.table) };
  });
  return [...Map.groupBy(candidates, ({ note }) => note)].map(
    ([note, sameColumn]) => `${note} (${sameColumn.map(({ parent }) => parent).join(', ')})`,
  );
}

/**
 * Leaves `containment` out if the table is empty or nothing was compared: it is then no
 * measurement.
 */
function reportedEvidence({
  containment,
  ...evidence
}: LinkFinding['evidence']): LinkFinding['evidence'] {
  const isMeasured = containment !== undefined && evidence['rows'] !== 0;
  return isMeasured ? { ...evidence, containment } : evidence;
}

const roundToThousandths = (value: number): number => Math.round(value * 1000) / 1000;
