import type { UserError } from '../lib/error.ts';
import { withProjectLock } from '../store/lock.ts';
import { openState, type State } from '../store/state.ts';
import { ingestExitCode } from './exit-code.ts';
import type { ProjectFindings } from './fetch/findings.ts';
import {
  emptyConnectionReport,
  loadUnscannedWarehouses,
  scanWarehouses,
} from './fetch/scan-warehouses.ts';
import { readSources, type ReadSource } from './fetch/read-sources.ts';
import { listUnusedFacts, reportSources } from './fetch/source-report.ts';
import {
  measureStage,
  type IngestInput,
  type PipelineOutcome,
  type PipelineRun,
} from './ingest-run.ts';
import { saveLeftOut } from './last-run.ts';
import { runModelStages } from './model-stages.ts';
import { planIngest } from './plan.ts';
import { findNewEdits } from './publish/new-edits.ts';
import { readProjectFiles } from './publish/project-files.ts';
import { publish } from './publish/publish.ts';
import { projectFolders, renderProject } from './render/render.ts';
import { addDecisions, validateArtifacts } from './render/validate.ts';
import { toFailure, type ConnectionReport, type IngestReport } from './report.ts';
import { compareMetrics } from './decide/compare-metrics.ts';

/**
 * Brings the project up to date with its warehouses and sources, or, in a dry run, reports what would be done. A warehouse
 * or a source that fails is reported, its files stay, and the others go on. The run holds the project's lock. Throws only
 * for bugs, an abort, and failures of the project itself (lock, git, disk).
 */
export async function runIngestPipeline(input: IngestInput): Promise<IngestReport> {
  const { dir, runId, signal, dryRun = false } = input;
  const run: PipelineRun = { ...input, emit: (event) => input.onEvent?.(event), milliseconds: {} };
  const onWait = (message: string) => run.emit({ type: 'lock_awaited', message });
  const outcome = dryRun
    ? await planIngest(run)
    : await withProjectLock(dir, () => runWithState(run), { signal, onWait });
  const queries = outcome.connections.reduce(
    (sum, connection) => sum + connection.queries,
    outcome.queries ?? 0,
  );
  const { milliseconds } = run;
  const report = { ...emptyReport, runId, dryRun, ...outcome, queries, milliseconds };
  return { ...report, exitCode: ingestExitCode(report) };
}

const emptyReport = {
  files: { added: [], changed: [], removed: [] },
  sources: [],
  stages: [],
  conflicts: [],
  keptEdits: [],
  newEdits: [],
  stale: [],
  leftAlone: [],
  setAside: [],
  quarantined: [],
  mended: [],
  unfit: [],
};

async function runWithState(run: PipelineRun): Promise<PipelineOutcome> {
  const state = openState(run.dir);
  try {
    return await runStages(run, state);
  } finally {
    state.close();
  }
}

/** The pipeline: scan, fetch, extract, read with models, validate, publish, index. */
async function runStages(run: PipelineRun, state: State): Promise<PipelineOutcome> {
  const { reports, sources, found } = await collectFindings(run, state);
  const hasNews =
    reports.some(({ failure }) => failure === undefined) ||
    run.pin !== undefined ||
    sources.some(({ fetched }) => fetched.report.items !== undefined);
  if (!hasNews)
    return {
      connections: reports,
      sources: reportSources(sources, found.sources),
      commit: { none: 'nothing was read' },
    };

  const modelled = await askModels(run, state, { found, sources });
  const checked = await checkArtifacts(run, state, modelled);
  const sourceReports = reportSources(sources, checked.findings.sources);
  run.signal.throwIfAborted();

  const updated = [
    ...reports.filter(({ failure }) => failure === undefined),
    ...sourceReports.filter(({ items }) => items !== undefined),
  ].map(({ connection }) => connection);
  const { standing, ...published } = await publishArtifacts(run, checked, updated);
  await measureStage(run, 'compare', () =>
    compareMetrics(published.conflicts, {
      files: standing,
      state,
      open: (name) => run.warehouse(name, run.signal),
      signal: run.signal,
    }),
  );
  await measureStage(run, 'index', async () => run.updateIndex?.(state));

  const { findings, validation } = checked;
  const unfit = findings.sources.flatMap(listUnusedFacts);
  const quarantined = [...validation.quarantined, ...modelled.refused];
  saveLeftOut(state, { quarantined, unfit });
  const covered = findings.connections.map(({ catalog }) => catalog.connection);
  return {
    connections: reportUnopened(reports, validation.unopened),
    sources: sourceReports,
    stages: [...modelled.stages, ...(validation.repairReport ? [validation.repairReport] : [])],
    unfit,
    quarantined,
    queries: validation.queries,
    mended: validation.mended,
    ...published,
    newEdits: findNewEdits(state, covered, published.keptEdits),
  };
}

/** Scans the warehouses, fetches the sources, and extracts what code can read. */
async function collectFindings(run: PipelineRun, state: State) {
  const scanned = await scanWarehouses(run, state);
  const failed = scanned.reports.filter(({ failure }) => failure !== undefined);
  const unscanned = await loadUnscannedWarehouses(
    run,
    failed.map(({ connection }) => connection),
  );
  const connections = [...scanned.findings, ...unscanned];
  const sources = await readSources(
    run,
    connections.map(({ catalog }) => catalog),
  );
  const found: ProjectFindings = {
    connections,
    sources: sources.map(({ findings }) => findings),
    pin: run.pin,
  };
  return { reports: scanned.reports, sources, found };
}

interface CollectedFindings {
  readonly found: ProjectFindings;
  readonly sources: readonly ReadSource[];
}

/** Lets models read what code cannot, and decide about the claims of all sources. */
function askModels(run: PipelineRun, state: State, { found, sources }: CollectedFindings) {
  const asked = sources.filter(({ fetched }) => fetched.input.isAsked);
  const { dir, signal, emit } = run;
  return measureStage(run, 'model', () =>
    runModelStages(found, {
      dir,
      model: run.reader,
      asked: new Set(asked.map(({ fetched }) => fetched.input.name)),
      isAnew: run.reExtract === true,
      state,
      open: (name) => run.warehouse(name, signal),
      signal,
      emit,
    }),
  );
}

/** Renders the files as they would be published, and checks them. */
function checkArtifacts(
  run: PipelineRun,
  state: State,
  { findings: found, isOver }: { readonly findings: ProjectFindings; readonly isOver: boolean },
) {
  return measureStage(run, 'validate', async () => {
    const files = await readProjectFiles(run.dir, projectFolders(found));
    const { signal, reader: model } = run;
    const validation = await validateArtifacts(found, files, { state, model, isOver, signal });
    return { files, findings: addDecisions(found, validation.repairs), validation };
  });
}

/** Writes and commits the files, without the claims that failed the check. `standing` are all files afterwards. */
async function publishArtifacts(
  run: PipelineRun,
  { files, findings, validation }: Awaited<ReturnType<typeof checkArtifacts>>,
  updated: readonly string[],
) {
  const { dir, runId, pin, emit } = run;
  const published = await measureStage(run, 'publish', () =>
    publish({
      dir,
      runId,
      message:
        pin === undefined ? `ktx: update ${updated.join(', ')}` : `ktx: decide ${pin.subject}`,
      folders: projectFolders(findings),
      files,
      render: (tree) => renderProject(findings, tree, validation.failed),
      onStep: (step, path) => emit({ type: 'publish_step', step, path }),
    }),
  );
  emit({ type: 'published', commit: published.commit, files: published.files });
  return published;
}

/** The reports, and a failure for each warehouse that could not be opened to check what the sources say about it. */
function reportUnopened(
  reports: readonly ConnectionReport[],
  unopened: readonly { readonly connection: string; readonly error: UserError }[],
): ConnectionReport[] {
  const failed = new Set(
    reports.filter(({ failure }) => failure !== undefined).map(({ connection }) => connection),
  );
  const added = unopened.filter(({ connection }) => !failed.has(connection));
  return [
    ...reports,
    ...added.map(({ connection, error }) => ({
      ...emptyConnectionReport,
      connection,
      failure: toFailure(error),
    })),
  ];
}
