import {
  catalogPath,
  type Catalog,
  type CatalogTable,
  tableLocation,
} from '../../context/catalog/catalog.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import { slug } from '../../context/catalog/slug.ts';
import { subjects, type Claim, type Evidence } from '../../context/claims/claim.ts';
import { type TableUsage, usageBucket } from '../../context/usage/usage.ts';
import { tableKey } from '../../sql/dialect.ts';
import { aggregateOperand, conditionSql } from './metric-candidates.ts';
import type { HistorySummary, MetricUse } from './summarize-history.ts';

/** Who made the claims. Raise it when the rules change. */
export const historyExtractor = 'history@1';

/**
 * What a history says, as claims: the time that queries mean, and metrics that a person may accept.
 * Evidence is in steps, so that a day's queries change no byte.
 */
export function historyClaims({ tables, metrics }: HistorySummary, catalog: Catalog): Claim[] {
  const names = datasetNames(catalog);
  const byKey = new Map(catalog.tables.map((table) => [tableKey(table), table]));
  const times = tables.flatMap(({ table: ref, defaultTime }): Claim[] => {
    const table = byKey.get(tableKey(ref));
    if (table === undefined || defaultTime === undefined) return [];
    const evidence = evidenceFor(table, catalog, { of: 'queries that use a time', share: 'most' });
    return [
      {
        subject: subjects.dataset(catalog.connection, names.dataset(table)),
        kind: 'default_time',
        body: names.field(table, defaultTime),
        evidence: [evidence],
      },
    ];
  });
  const taken = new Set<string>();
  const proposed = metrics.flatMap((metric): Claim[] => {
    const table = byKey.get(tableKey(metric.table));
    if (table === undefined) return [];
    const fieldOf = (column: string) => names.field(table, column);
    const subject = subjects.metric(
      catalog.connection,
      names.dataset(table),
      metricName(metric, fieldOf),
    );
    if (taken.has(subject)) return [];
    taken.add(subject);
    const { runs, users, templates } = metric;
    const measured = {
      runs: usageBucket(runs),
      ...(users !== undefined && { users: usageBucket(users) }),
      statements: usageBucket(templates),
    };
    return [
      {
        subject,
        kind: 'possible_metric',
        body: metricBody(metric, fieldOf),
        evidence: [evidenceFor(table, catalog, measured)],
      },
    ];
  });
  return [...times, ...proposed];
}

function metricBody(metric: MetricUse, fieldOf: (column: string) => string) {
  const of = aggregateOperand(metric, fieldOf);
  const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;
  const where = conditionSql(metric, { names: fieldOf, literal });
  return {
    agg: metric.function,
    ...(of !== undefined && { of }),
    ...(where !== undefined && { where }),
  };
}

const verbs = { sum: 'total', avg: 'average', min: 'least', max: 'greatest' } as const;

/** Like `total_amount_if_status_paid`; a person renames it in the file. */
function metricName(metric: MetricUse, fieldOf: (column: string) => string): string {
  const { function: name, terms, conditions } = metric;
  const columns = terms.flatMap((term) => (typeof term === 'string' ? [] : [fieldOf(term.column)]));
  const what = columns.join('_by_');
  const verb = Object.hasOwn(verbs, name) ? verbs[name as keyof typeof verbs] : 'count';
  const base = name === 'count_distinct' ? `distinct_${what}` : `${verb}_${what || 'rows'}`;
  const filters = conditions.map(({ column, declared }) => {
    const { before = '', after = '', values = [] } = declared ?? {};
    return [before, fieldOf(column), after.replace(/=/, '').replace('<>', 'not'), ...values].join(
      ' ',
    );
  });
  return slug([base, ...filters.map((filter) => `if ${filter}`)].join(' ')).slice(0, 80);
}

function evidenceFor(
  table: CatalogTable,
  { connection }: Catalog,
  measured: Readonly<Record<string, string>>,
): Evidence {
  return {
    connection,
    origin: 'code',
    extractor: historyExtractor,
    item: catalogPath(connection, table.schema),
    location: tableLocation(table),
    measured,
    confidence: 0.6,
  };
}

/** The lines of the usage file of a connection. */
export function tableUsages({ tables }: HistorySummary): readonly TableUsage[] {
  return tables.map(({ table, runs, users, columns, filters }) => ({
    ...table,
    runs: usageBucket(runs),
    ...(users !== undefined && { users: usageBucket(users) }),
    columns: Object.fromEntries(columns.map(({ column, runs: own }) => [column, usageBucket(own)])),
    filters: filters.map(({ column, operator, share }) => ({
      column,
      operator,
      of: share >= 0.8 ? ('most' as const) : ('many' as const),
    })),
  }));
}
