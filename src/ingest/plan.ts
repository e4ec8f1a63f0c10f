import { loadReadableCatalog } from '../context/catalog/catalog-files.ts';
import { keepNames } from '../context/catalog/dataset-names.ts';
import { countUndescribedColumns } from '../scan/describe/descriptions.ts';
import { estimateCost } from './estimate.ts';
import { journaledOutcome } from './extract/reading-stage.ts';
import { listPendingItems } from './extract/work-units.ts';
import type { ProjectFindings } from './fetch/findings.ts';
import {
  forEachWarehouse,
  loadModelClaims,
  loadUnscannedWarehouses,
} from './fetch/scan-warehouses.ts';
import { readSources } from './fetch/read-sources.ts';
import { listUnusedFacts, reportSources } from './fetch/source-report.ts';
import type { PipelineOutcome, PipelineRun } from './ingest-run.ts';
import { readProjectFiles } from './publish/project-files.ts';
import { projectFolders, renderProject } from './render/render.ts';
import type { Estimate } from './report.ts';

/**
 * A dry run: reads structures and sources, and reports what a run would do. Writes nothing and asks
 * no model.
 */
export async function planIngest(run: PipelineRun): Promise<PipelineOutcome> {
  /** The number of columns of each table that a model would describe. */
  const undescribedTables: number[] = [];
  const connections = await forEachWarehouse(run, 'plan', async (warehouse, { scope }) => {
    const { connection, dialect } = warehouse;
    const { tables, queries } = await warehouse.introspect(scope, run.signal);
    const firstSchema = scope.schemas?.[0] ?? dialect.defaultSchema;
    const read = { connection, dialect: dialect.name, firstSchema, tables };
    const catalog = keepNames(read, await loadReadableCatalog(run.dir, connection));
    const known = await loadModelClaims(run, connection);
    undescribedTables.push(
      ...countUndescribedColumns(catalog, { known, journal: run.estimateOptions?.journal }),
    );
    return { tables: tables.length, queries };
  });
  const recorded = await loadUnscannedWarehouses(
    run,
    run.connections.map(({ name }) => name),
  );
  const sources = await readSources(
    run,
    recorded.map(({ catalog }) => catalog),
  );
  const findings = { connections: recorded, sources: sources.map((source) => source.findings) };
  const files = await readProjectFiles(run.dir, projectFolders(findings), { tidy: false });
  const { quarantined } = renderProject(findings, files);
  return {
    connections,
    sources: reportSources(sources, findings.sources),
    quarantined,
    unfit: findings.sources.flatMap(listUnusedFacts),
    estimate: estimateModelCost(run, findings, undescribedTables),
    commit: { none: 'dry run' },
  };
}

/** What the run would ask of a model; undefined if none is configured. */
function estimateModelCost(
  { estimateOptions, sources = [], reExtract = false }: PipelineRun,
  findings: ProjectFindings,
  tables: readonly number[],
): Estimate | undefined {
  if (estimateOptions === undefined) return undefined;
  const asked = new Set(sources.flatMap(({ name, isAsked }) => (isAsked ? [name] : [])));
  const pending = listPendingItems(findings, { sources: asked, isAnew: reExtract });
  const { journal } = estimateOptions;
  const isPaid = (item: (typeof pending)[number]) =>
    journal !== undefined && journaledOutcome(journal, item) !== undefined;
  const items = pending.filter((item) => reExtract || !isPaid(item));
  return estimateCost({ ...estimateOptions, tables, items });
}
