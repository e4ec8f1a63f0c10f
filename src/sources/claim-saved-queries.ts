import { savedQuerySubject } from '../context/claims/saved-query-claims.ts';
import type { Json } from '../lib/json.ts';
import {
  mapSavedQuery,
  savedQuerySpecSchema,
} from '../semantic/formats/metricflow/mapping/map-saved-query.ts';
import type { ClaimCollector } from './claim-collector.ts';
import { type MetricSource, parseOrReport } from './parse-or-report.ts';

/** A saved query as a source has it, in the form of MetricFlow. */
export type SavedQuerySource = MetricSource;

type QueryableModel = Parameters<typeof mapSavedQuery>[1];

/**
 * Claims the saved queries that ktx answers as MetricFlow would. Every other one becomes a problem
 * with the reason. `warehouseOf` says where the rows of a dataset are.
 */
export function claimSavedQueries(
  queries: readonly SavedQuerySource[],
  {
    warehouseOf,
    ...model
  }: QueryableModel & { readonly warehouseOf: (dataset: string) => string | undefined },
  collector: ClaimCollector,
): void {
  for (const source of queries) {
    const spec = parseOrReport(source, collector, () => savedQuerySpecSchema.parse(source.raw));
    const draft = spec && parseOrReport(source, collector, () => mapSavedQuery(spec, model));
    if (spec === undefined || draft === undefined) continue;
    const { query: name, ...said } = draft;
    const names = draft.metrics.flatMap((metric) => (typeof metric === 'string' ? metric : []));
    const [connection, ...others] = new Set(
      names.map((metric) => warehouseOf(metric.split('.')[0] ?? '')),
    );
    if (connection === undefined || others.length > 0) {
      collector.addProblem(source.place(), `${spec.name}: its metrics are in several warehouses`);
      continue;
    }
    const body = Object.fromEntries(
      Object.entries({ ...said, owner: source.owner?.text }).filter(
        ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
      ),
    ) as Json;
    const subject = savedQuerySubject({ connection, name });
    collector.addClaim(source.place(), { subject, kind: 'saved_query', body });
    if ((spec.exports ?? []).length > 0)
      collector.leaveOut(source.place('exports'), {
        what: 'export of a saved query',
        name: spec.name,
      });
    if (spec.query_params.order_by.length > 0)
      collector.leaveOut(source.place('query_params'), {
        what: 'order of a saved query',
        name: spec.name,
      });
  }
}
