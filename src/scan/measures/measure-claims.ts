import { catalogPath, tableLocation } from '../../context/catalog/catalog.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import { proposalExtractor, subjects, type Claim } from '../../context/claims/claim.ts';
import { tableKey, type TableRef } from '../../sql/dialect.ts';
import { sortByKey } from '../sort-by-key.ts';
import { withTimeTypes } from '../facts/time-types.ts';
import type { ScanResult } from '../scan.ts';
import { proposeMeasures } from './propose-measures.ts';
import { proposeDefaultTime } from './propose-time.ts';

type Scanned = Pick<ScanResult, 'catalog' | 'primaryKeys' | 'links' | 'tables'>;

/**
 * Metrics and times that names and types suggest, as claims that wait for a person: without them a
 * warehouse that no source describes has nothing to ask but counts.
 */
export function measureClaims({ catalog, primaryKeys, links, tables }: Scanned): Claim[] {
  const names = datasetNames(catalog);
  const { connection } = catalog;
  const likely = links.filter(({ status }) => status !== 'rejected');
  const keyColumns = columnsByTable([
    ...primaryKeys.filter(isCertain),
    ...links.filter(({ status }) => status === 'accepted').flatMap(({ from, to }) => [from, to]),
  ]);
  const children = new Set(likely.map(({ from }) => tableKey(from.table)));
  const tablesByKey = new Map(
    tables.map(({ table, profile }) => [
      tableKey(table),
      { table: withTimeTypes(table, profile), profile },
    ]),
  );
  const parentsOf = Map.groupBy(
    links.filter(({ status }) => status === 'accepted'),
    ({ from }) => tableKey(from.table),
  );
  // Views repeat the columns of tables.
  const stored = new Set(
    tables.flatMap(({ table: { kind, columns } }) =>
      kind === 'view' ? [] : columns.map(({ name }) => name.toLowerCase()),
    ),
  );
  const claims = tables.flatMap(({ table: declared, profile }) => {
    const table = withTimeTypes(declared, profile);
    const dataset = names.dataset(table);
    const key = tableKey(table);
    const keyed = new Set([...(keyColumns.get(key) ?? []), ...table.uniqueKeys.flat()]);
    const fieldName = (column: string) => names.field(table, column);
    const evidence = {
      connection,
      item: catalogPath(connection, table.schema),
      location: tableLocation(table),
      origin: 'code',
      extractor: proposalExtractor,
      confidence: 0.5,
    } as const;
    const parents = (parentsOf.get(key) ?? []).flatMap(
      ({ to }) => tablesByKey.get(tableKey(to.table)) ?? [],
    );
    const measured = { table, profile, keyed, hasParent: children.has(key), parents };
    const time = proposeDefaultTime(table);
    const isRepeated = (column: string) =>
      table.kind === 'view' && stored.has(column.toLowerCase());
    const measures = proposeMeasures(measured, fieldName).filter(
      ({ columns }) => !columns.every(isRepeated),
    );
    return [
      ...measures.map(({ name, body }): Claim => ({
        subject: subjects.metric(connection, dataset, name),
        kind: 'metric',
        body,
        evidence: [evidence],
      })),
      ...(time === undefined
        ? []
        : [
            {
              subject: subjects.dataset(connection, dataset),
              kind: 'default_time',
              body: fieldName(time),
              evidence: [evidence],
            } as const,
          ]),
    ];
  });
  return sortByKey(claims, ({ subject, kind, body }) => [subject, kind, body]);
}

/** A measure can be unique together with other columns by chance. */
function isCertain({ status, origin, columns }: Scanned['primaryKeys'][number]): boolean {
  return status === 'accepted' && (origin === 'declared' || columns.length === 1);
}

function columnsByTable(
  sets: readonly { readonly table: TableRef; readonly columns: readonly string[] }[],
): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(sets, ({ table }) => tableKey(table));
  return new Map([...groups].map(([key, group]) => [key, group.flatMap(({ columns }) => columns)]));
}
