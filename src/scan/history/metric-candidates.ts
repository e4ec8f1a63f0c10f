import { UserError } from '../../lib/error.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { qualifiedTableName } from '../profile/profile-statement.ts';
import type { ScanContext } from '../scan-context.ts';
import type { MetricUse } from './summarize-history.ts';

/** How many candidates are tried in one scan. */
const mostCandidates = 50;
const candidateSeconds = 30;

/**
 * The metrics of the history that the data can answer, the most frequent first: each is run once,
 * and one that fails or has no value is left out. The value is not kept.
 */
export async function runMetricCandidates(
  metrics: readonly MetricUse[],
  { warehouse, config, signal, onQuery }: Omit<ScanContext, 'store' | 'labels'>,
): Promise<readonly MetricUse[]> {
  const ranked = metrics.toSorted(
    (a, b) => b.runs - a.runs || (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1),
  );
  const answered: MetricUse[] = [];
  for (const metric of ranked.slice(0, mostCandidates)) {
    const timeoutMs = Math.min(candidateSeconds, config.table_seconds) * 1000;
    try {
      onQuery();
      const sql = candidateSql(metric, warehouse.dialect);
      const { rows } = await warehouse.query(sql, { maxRows: 1, timeoutMs }, signal);
      if ((rows[0]?.[0] ?? null) !== null) answered.push(metric);
    } catch (error) {
      if (signal.aborted || !(error instanceof UserError) || error.exitCode === 4) throw error;
    }
  }
  return answered;
}

function candidateSql(metric: MetricUse, dialect: Dialect): string {
  const names = (column: string): string => dialect.quote(column);
  const of = aggregateOperand(metric, names);
  const distinct = metric.function === 'count_distinct' ? 'DISTINCT ' : '';
  const call = metric.function === 'count_distinct' ? 'count' : metric.function;
  const where = conditionSql(metric, { names, literal: (value) => dialect.literal(value) });
  const filter = where === undefined ? '' : ` WHERE ${where}`;
  return `SELECT ${call}(${distinct}${of ?? '*'}) AS ktx_value FROM ${qualifiedTableName(metric.table, dialect)}${filter}`;
}

/** What the aggregate is over; undefined for rows. */
export function aggregateOperand(
  { terms }: Pick<MetricUse, 'terms'>,
  names: (column: string) => string,
): string | undefined {
  if (terms.length === 0) return undefined;
  return terms.map((term) => (typeof term === 'string' ? term : names(term.column))).join('');
}

/** The conditions of a metric as SQL; undefined without any. */
export function conditionSql(
  { conditions }: Pick<MetricUse, 'conditions'>,
  {
    names,
    literal,
  }: {
    readonly names: (column: string) => string;
    readonly literal: (value: string) => string;
  },
): string | undefined {
  const parts = conditions.flatMap(({ column, declared }) => {
    if (declared === undefined) return [];
    const { before, after, values } = declared;
    const literals = values.map(literal).join(', ');
    const list = after.endsWith('IN ') ? `(${literals})` : literals;
    return [`${before}${names(column)}${after}${list}`];
  });
  return parts.length === 0 ? undefined : parts.join(' AND ');
}
