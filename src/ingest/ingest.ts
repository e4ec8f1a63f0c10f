import { join } from 'node:path';
import { pinsPath, requirePins } from '../context/claims/pins.ts';
import { readText, readTextOrNothing } from '../store/files.ts';
import { withProjectLock } from '../store/lock.ts';
import { openState, type State } from '../store/state.ts';
import { ingestExitCode } from './exit-code.ts';
import type { ProjectFindings } from './fetch/findings.ts';
import {
  emptyConnectionReport,
  loadUnscannedWarehouses,
  scanWarehouses,
} from './fetch/scan-warehouses.ts';
import { readMergedClaims } from './fetch/merged-claims.ts';
import { readSources, type FetchedSource, type ReadSource } from './fetch/read-sources.ts';
import { listUnusedFacts, reportSources } from './fetch/source-report.ts';
import {
  measureStage,
  type IngestInput,
  type PipelineOutcome,
  type PipelineRun,
} from './ingest-run.ts';
import { saveLeftOut } from './last-run.ts';
import { runModelStages, type ModelStagesResult } from './model-stages.ts';
import { planIngest } from './plan.ts';
import { noCommitReasons } from './publish/commit-rendering.ts';
import { describePins } from './publish/describe-pins.ts';
import { findNewEdits } from './publish/new-edits.ts';
import { readProjectFiles, type FileTree } from './publish/project-files.ts';
import { recoverBases } from './publish/recorded-bases.ts';
import { upgradeNote } from './publish/upgrade-note.ts';
import { listWithdrawn } from './publish/withdrawn-proposals.ts';
import { publish, type Published } from './publish/publish.ts';
import { projectFolders, renderProject } from './render/render.ts';
import { guardJoins, type GuardedFindings } from './render/guard-joins.ts';
import { withRecordedDefinitions } from './render/hold-back.ts';
import { addDecisions, validateArtifacts, type Validation } from './render/validate.ts';
import {
  checkUnchanged,
  recordSettledRun,
  type ReadAlready,
  type UnchangedCheck,
} from './unchanged/settled-run.ts';
import type { WarehouseSchema } from '../warehouse/warehouse.ts';
import type { EmbeddedIndex } from '../search/meanings/embed-index.ts';
import { toFailure, type ConnectionReport, type IngestReport } from './report.ts';
import { compareMetrics } from './decide/compare-metrics.ts';

/**
 * Brings the project up to date with its warehouses and sources, or, in a dry run, reports what
 * would be done. A warehouse or a source that fails is reported, its files stay, and the others go
 * on. The run holds the project's lock. Throws only for bugs, an abort, and failures of the project
 * itself (lock, git, disk).
 */
export async function runIngestPipeline(input: IngestInput): Promise<IngestReport> {
  const { dir, runId, signal, dryRun = false } = input;
  const startedAt = performance.now();
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
  const wallMilliseconds = Math.round(performance.now() - startedAt);
  const times = { milliseconds, wallMilliseconds };
  const report = { ...emptyReport, runId, dryRun, ...outcome, queries, ...times };
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
  withdrawn: [],
  quarantined: [],
  mended: [],
  unfit: [],
};

async function runWithState(run: PipelineRun): Promise<PipelineOutcome> {
  await recoverBases(run.dir);
  await run.beforeDecision?.();
  // Without them, what people decided would be undone.
  requirePins(await readText(join(run.dir, pinsPath), run.dir));
  const state = openState(run.dir);
  try {
    return await runStages(run, state);
  } finally {
    state.close();
  }
}

/**
 * The pipeline. What was read and rendered is no longer in memory when the search index is brought
 * up to date.
 */
async function runStages(run: PipelineRun, state: State): Promise<PipelineOutcome> {
  const outcome = await bringUpToDate(run, state);
  if (outcome.commit.none === nothingRead) return outcome;
  const meanings = await measureStage(run, 'index', async () => run.updateIndex?.(state));
  return { ...outcome, ...(meanings !== undefined && { meanings: reportMeanings(meanings) }) };
}

const nothingRead = 'nothing was read';

/** The files of the project, step by step. */
async function bringUpToDate(run: PipelineRun, state: State): Promise<PipelineOutcome> {
  const unchanged = await checkUnchanged(run, state);
  if (unchanged.isUnchanged) return reportUnchanged(run, state, unchanged);
  const collected = await collectFindings(run, state, unchanged.read);
  if (!hasNews(run, collected))
    return {
      connections: collected.reports,
      sources: reportSources(collected.sources, collected.found.sources),
      commit: { none: nothingRead },
    };
  const modelled = await askModels(run, state, collected);
  const checked = await checkArtifacts(run, state, { ...modelled, files: collected.files });
  run.signal.throwIfAborted();
  const published = await publishArtifacts(run, collected, checked);
  await compareContestedMetrics(run, state, published);
  const outcome = reportRun(state, { collected, modelled, checked, published });
  await settle(run, state, { collected, published, outcome });
  return outcome;
}

/** What is left to do in a run that found nothing new. */
async function reportUnchanged(
  run: PipelineRun,
  state: State,
  { report, files }: Extract<UnchangedCheck, { readonly isUnchanged: true }>,
): Promise<PipelineOutcome> {
  const { conflicts } = report;
  const commit = { none: noCommitReasons.unchanged };
  run.emit({ type: 'published', commit, files: emptyReport.files });
  await compareContestedMetrics(run, state, { conflicts, filesAfter: files });
  return { ...report, commit };
}

interface RunToSettle extends Pick<FinishedStages, 'collected' | 'published'> {
  readonly outcome: PipelineOutcome;
}

/** Records the state that the run leaves, if the next run would find nothing to do in it. */
function settle(
  run: PipelineRun,
  state: State,
  { collected, published, outcome }: RunToSettle,
): Promise<void> {
  const { isSettled, filesAfter } = published;
  const { connections, sources, conflicts = [], keptEdits = [], stale = [], unfit = [] } = outcome;
  const { runId, milliseconds } = run;
  const times = { runId, milliseconds, dryRun: false, wallMilliseconds: 0, queries: 0 };
  const isComplete = ingestExitCode({ ...emptyReport, ...times, ...outcome }) === 0;
  // A model may have made what its next answer would change.
  const helpers = [run.model, run.reader, run.embeddings];
  const isQuiet = helpers.every((helper) => helper === undefined) || isIdle(outcome);
  return recordSettledRun(run, state, {
    report: { connections, sources: sources ?? [], conflicts, keptEdits, stale, unfit },
    files: isSettled && isComplete && isQuiet ? filesAfter : undefined,
    schemas: collected.schemas,
    freshUntil: collected.freshUntil,
  });
}

/** True if the run changed nothing and asked no model. */
function isIdle({ connections, stages = [], files = emptyReport.files }: PipelineOutcome): boolean {
  const calls = connections.flatMap(({ descriptions, judgements, names }) =>
    [descriptions, judgements, names].map((work) => work?.calls ?? 0),
  );
  const changes = [files.added, files.changed, files.removed, stages];
  return [...calls, ...changes.map(({ length }) => length)].every((count) => count === 0);
}

function reportMeanings({ failure, ...embedded }: EmbeddedIndex): IngestReport['meanings'] {
  return { ...embedded, ...(failure && { failure: toFailure(failure) }) };
}

interface CollectedFindings {
  readonly found: ProjectFindings;
  readonly reports: readonly ConnectionReport[];
  readonly sources: readonly ReadSource[];
  /** As in `scanWarehouses`. */
  readonly schemas: ReadonlyMap<string, WarehouseSchema>;
  readonly freshUntil: number;
  /** The files on disk, if they were just read. */
  readonly files: FileTree | undefined;
}

/** Scans the warehouses, fetches the sources, and extracts what code can read. */
async function collectFindings(
  run: PipelineRun,
  state: State,
  read: ReadAlready,
): Promise<CollectedFindings> {
  const { reports, findings: scanned, ...scan } = await scanWarehouses(run, state, read);
  const failed = reports.filter(isFailed).map(({ connection }) => connection);
  const connections = [...scanned, ...(await loadUnscannedWarehouses(run, failed))];
  const catalogs = connections.map(({ catalog }) => catalog);
  const sources = await readSources(run, catalogs, { state, ...read });
  const sourceFindings = sources.map(({ findings }) => findings);
  const merged = await readMergedClaims(run.dir);
  const found = {
    connections,
    sources: sourceFindings,
    merged,
    pins: run.pins,
    authority: run.authority,
  };
  const guarded = await guardNewJoins(run, found);
  return {
    reports: reports.map((report) => countDoubts(report, guarded.doubts)),
    sources,
    found: guarded.found,
    files: guarded.files,
    ...scan,
  };
}

/** No join that the scan found changes or spoils what people ask already. */
async function guardNewJoins(run: PipelineRun, found: ProjectFindings): Promise<GuardedFindings> {
  const { files, ...guarded } = await guardJoins(found, {
    read: () => readProjectFiles(run.dir, projectFolders(found)),
    standing: async () => (await run.standingQueries?.()) ?? [],
  });
  // While models are asked, people write.
  return { ...guarded, files: run.reader === undefined ? files : undefined };
}

/** The joins that the scan accepted and a person has to decide about count as such. */
function countDoubts(
  report: ConnectionReport,
  doubts: GuardedFindings['doubts'],
): ConnectionReport {
  const count = doubts.get(report.connection) ?? 0;
  const { accepted, review } = report.relationships;
  return { ...report, relationships: { accepted: accepted - count, review: review + count } };
}

/** False if no warehouse and no source could be read and no person decided anything. */
function hasNews({ pins }: PipelineRun, { reports, sources }: CollectedFindings): boolean {
  return (
    pins !== undefined ||
    !reports.every(isFailed) ||
    sources.some(({ fetched }) => isFetched(fetched))
  );
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
      workers: run.workers,
      state,
      open: (name) => run.warehouse(name, signal),
      signal,
      emit,
    }),
  );
}

interface CheckedArtifacts {
  /** The files on disk. */
  readonly files: FileTree;
  /** With the repairs that a model made. */
  readonly findings: ProjectFindings;
  readonly validation: Validation;
}

/** Renders the files as they would be published, and checks them. */
function checkArtifacts(
  run: PipelineRun,
  state: State,
  { findings: found, isOver, files: known }: ModelStagesResult & Pick<CollectedFindings, 'files'>,
): Promise<CheckedArtifacts> {
  return measureStage(run, 'validate', async () => {
    const files = known ?? (await readProjectFiles(run.dir, projectFolders(found)));
    const { signal, reader: model } = run;
    const configuration = readTextOrNothing(join(run.dir, 'ktx.yaml'), run.dir);
    const context = { state, configuration, model, isOver, signal };
    const validation = await validateArtifacts(found, files, context);
    const standing = withRecordedDefinitions(found, validation.waiting, files);
    return { files, findings: addDecisions(standing, validation.repairs), validation };
  });
}

/** Writes and commits the files, without the claims that failed the check. */
async function publishArtifacts(
  run: PipelineRun,
  { reports, sources }: CollectedFindings,
  { files, findings, validation }: CheckedArtifacts,
): Promise<Published> {
  const { dir, runId, pins, emit } = run;
  const scanned = reports.filter((report) => !isFailed(report)).map(({ connection }) => connection);
  const fetched = sources.filter((source) => isFetched(source.fetched));
  const updated = [...scanned, ...fetched.map((source) => source.fetched.input.name)];
  const parts = pins === undefined ? [`ktx: update ${updated.join(', ')}`] : describePins(pins);
  const message = [...parts, upgradeNote(files)].filter((part) => part !== undefined).join('\n\n');
  const published = await measureStage(run, 'publish', () =>
    publish({
      dir,
      runId,
      message,
      git: run.git,
      branch: run.branch,
      folders: projectFolders(findings),
      files,
      render: (tree) => renderProject(findings, tree, validation.failed),
      onStep: (step, path) => emit({ type: 'publish_step', step, path }),
    }),
  );
  emit({ type: 'published', commit: published.commit, files: published.files });
  return published;
}

function compareContestedMetrics(
  run: PipelineRun,
  state: State,
  { conflicts, filesAfter }: Pick<Published, 'conflicts' | 'filesAfter'>,
): Promise<void> {
  const { signal } = run;
  const open = (name: string) => run.warehouse(name, signal);
  return measureStage(run, 'compare', () =>
    compareMetrics(conflicts, { files: filesAfter, state, open, signal }),
  );
}

interface FinishedStages {
  readonly collected: CollectedFindings;
  readonly modelled: ModelStagesResult;
  readonly checked: CheckedArtifacts;
  readonly published: Published;
}

/** The report of the run. Saves in the state what the next run and `ktx check` need of it. */
function reportRun(
  state: State,
  { collected, modelled, checked, published }: FinishedStages,
): PipelineOutcome {
  const { findings, validation } = checked;
  const unfit = findings.sources.flatMap(listUnusedFacts);
  const quarantined = [...validation.quarantined, ...modelled.refused];
  saveLeftOut(state, { quarantined, unfit, goneEdits: published.stale });
  const covered = findings.connections.map(({ catalog }) => catalog.connection);
  const { filesAfter: _after, isSettled: _isSettled, ...publishReport } = published;
  return {
    connections: reportUnopened(collected.reports, validation.unopened),
    sources: reportSources(collected.sources, findings.sources),
    stages: [...modelled.stages, ...(validation.repairReport ? [validation.repairReport] : [])],
    unfit,
    quarantined,
    queries: validation.queries,
    mended: validation.mended,
    ...publishReport,
    withdrawn: listWithdrawn(published, checked.files, quarantined),
    newEdits: findNewEdits(state, covered, published.keptEdits),
  };
}

/**
 * The reports, and a failure for each warehouse that could not be opened to check what the sources
 * say about it.
 */
function reportUnopened(
  reports: readonly ConnectionReport[],
  unopened: Validation['unopened'],
): ConnectionReport[] {
  const failed = new Set(reports.filter(isFailed).map(({ connection }) => connection));
  const added = unopened.filter(({ connection }) => !failed.has(connection));
  const reported = added.map(({ connection, error }) => {
    const failure = toFailure(error);
    return { ...emptyConnectionReport, connection, failure };
  });
  return [...reports, ...reported];
}

function isFailed({ failure }: Pick<ConnectionReport, 'failure'>): boolean {
  return failure !== undefined;
}

function isFetched({ report }: FetchedSource): boolean {
  return report.items !== undefined;
}
