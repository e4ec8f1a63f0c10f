import type { LinkFinding } from '../context/catalog/catalog.ts';
import { formatCount } from '../lib/format-count.ts';
import type { TableRef } from '../sql/dialect.ts';
import type { ScanResult } from './scan.ts';

/** What an empty table has, or one of which nothing was compared, is no share of found values. */
function shown({ containment, ...evidence }: LinkFinding['evidence']): LinkFinding['evidence'] {
  const isKnown = containment !== undefined && evidence['rows'] !== 0;
  return isKnown ? { ...evidence, containment } : evidence;
}

/** `data` of `ktx scan --json`. A table is its bare name in the connection's first schema, else `schema.table`. */
export function scanReport({
  catalog,
  tables,
  profiled,
  reused,
  left,
  queries,
  links,
  primaryKeys,
}: ScanResult) {
  const name = ({ schema, table }: TableRef): string =>
    schema === catalog.firstSchema ? table : `${schema}.${table}`;
  const place = ({ table, columns }: { table: TableRef; columns: readonly string[] }) => ({
    table: name(table),
    columns,
  });
  const rounded = (value: number): number => Math.round(value * 1000) / 1000;
  const polymorphic = links.flatMap(({ from, to, status, evidence: { why } }) => {
    const isPolymorphic =
      status === 'review' && typeof why === 'string' && why.startsWith('polymorphic');
    return isPolymorphic
      ? [
          {
            note: `${name(from.table)}(${from.columns.join()}) is not joined, ${why}`,
            parent: name(to.table),
          },
        ]
      : [];
  });
  const meant = [...Map.groupBy(polymorphic, ({ note }) => note)].map(
    ([note, all]) => `${note} (${all.map(({ parent }) => parent).join(', ')})`,
  );
  const unread = tables.flatMap(({ table, profile }) =>
    profile?.note === undefined ? [] : [`${name(table)}: not profiled: ${profile.note}`],
  );
  return {
    tables: tables.length,
    profiled,
    reused,
    left,
    queries,
    links: links.map((link) => {
      const { from, to, probability, evidence } = link;
      return {
        ...link,
        from: place(from),
        to: place(to),
        probability: rounded(probability),
        evidence: shown(evidence),
      };
    }),
    primary_keys: primaryKeys.map((key) => ({
      ...key,
      ...place(key),
      probability: rounded(key.probability),
    })),
    notes: [
      ...unread,
      ...budgetNotes(
        left,
        tables.flatMap(({ table, outcome }) => (outcome === 'left' ? [name(table)] : [])),
      ),
      ...meant,
    ],
  };
}

function budgetNotes(left: number, names: readonly string[]): readonly string[] {
  if (left === 0) return [];
  const first = names.slice(0, 5).join(', ');
  return [
    `budget spent: ${formatCount(left, 'table')} not profiled yet (${first}${left > 5 ? ', …' : ''}); the next scan goes on with them`,
  ];
}
