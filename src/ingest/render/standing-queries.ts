import type { ProjectFile } from '../../context/catalog/catalog-files.ts';
import { UserError } from '../../lib/error.ts';
import { emit } from '../../semantic/emit/emit.ts';
import { loadModel } from '../../semantic/load/load.ts';
import { metricAddress, type SemanticModel } from '../../semantic/model/model.ts';
import { findDialect } from '../../sql/dialects.ts';
import type { ConnectionFindings } from '../fetch/findings.ts';
import { planProbe } from './probes.ts';

/** A query that people rely on: one that is saved, or that has passed an eval case. */
export interface StandingQuery {
  readonly connection: string;
  /** As a person knows it: `saved query revenue_by_region`. */
  readonly name: string;
  readonly query: object;
}

/** What standing queries come to, by their names: the SQL, or the code of the error. */
export type StandingAnswers = ReadonlyMap<
  string,
  { readonly sql?: string; readonly error?: string }
>;

/**
 * Plans the standing queries of a warehouse over its dataset files, and every metric by itself and
 * by month. Nothing is sent to the warehouse.
 */
export async function planStandingQueries(
  { catalog }: Pick<ConnectionFindings, 'catalog'>,
  files: readonly ProjectFile[],
  standing: readonly StandingQuery[],
): Promise<StandingAnswers> {
  const dialect = findDialect(catalog.dialect);
  const { model } = await loadModel({ dialect, files, tables: catalog.tables });
  const own = standing.filter(({ connection }) => connection === catalog.connection);
  const answers = new Map<string, { sql?: string; error?: string }>();
  for (const { name, query } of [...own, ...listMetricQueries(model)])
    answers.set(name, await planQuietly(model, query));
  return answers;
}

function listMetricQueries(model: SemanticModel): Omit<StandingQuery, 'connection'>[] {
  const metrics = [...model.datasets.values()].flatMap((dataset) => [...dataset.metrics.values()]);
  return metrics.map(metricAddress).flatMap((address) => [
    { name: `metric ${address}`, query: { metrics: [address] } },
    {
      name: `metric ${address} by month`,
      query: { metrics: [address], dimensions: ['metric_time.month'] },
    },
  ]);
}

async function planQuietly(model: SemanticModel, query: object) {
  try {
    return { sql: emit(await planProbe(model, query), model.dialect) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { error: error.code };
  }
}
