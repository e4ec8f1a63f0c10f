import { type ExitCode, UserError } from '../lib/error.ts';
import type { Catalog } from '../context/catalog/catalog.ts';
import { loadCatalog } from '../context/catalog/catalog-files.ts';
import type { Claim } from '../context/claims/claim.ts';
import { parseClaims } from '../context/claims/claims-file.ts';
import type { Pin } from '../context/claims/pins.ts';
import { scanClaims } from '../scan/scan-claims.ts';
import type { ScanConfig } from '../scan/config.ts';
import { countUndescribedColumns, describeTables } from '../scan/describe/descriptions.ts';
import type { ScanModel } from '../scan/describe/scan-model.ts';
import { scan, type ScanProgress, type ScanResult } from '../scan/scan.ts';
import { withProjectLock } from '../store/lock.ts';
import { openState, type State } from '../store/state.ts';
import type { Scope, Warehouse } from '../warehouse/warehouse.ts';
import { compareMetrics } from './decide/compare-metrics.ts';
import { type IngestEvent, type PublishStep } from './event.ts';
import {
  toFailure,
  type ConnectionReport,
  type Estimate,
  type IngestReport,
  type SourceReport,
  type IngestStage,
} from './report.ts';
import { type EstimateInput, estimateCost } from './estimate.ts';
import { paidOutcome } from './extract/reading-stage.ts';
import { pendingItems } from './extract/work-units.ts';
import type { ConnectionFindings, ProjectFindings, SourceFindings } from './fetch/findings.ts';
import { claimsOfUnreadTables } from './fetch/claims-of-unread-tables.ts';
import { saveLeftOut } from './last-run.ts';
import { runModelStages } from './model-stages.ts';
import type { IngestModel } from './model.ts';
import { findNewEdits } from './publish/new-edits.ts';
import { readProjectFiles } from './publish/project-files.ts';
import { publish, noCommitReasons } from './publish/publish.ts';
import { loadReadingClaims } from './fetch/readings.ts';
import {
  extractSource,
  fetchSources,
  isPartial,
  reportSource,
  type SourceInput,
  listUnusedFacts,
} from './fetch/read-sources.ts';
import { projectFolders, renderProject } from './render/render.ts';
import { validateArtifacts } from './render/validate.ts';

export interface IngestInput {
  /** The folder that holds `ktx.yaml`. */
  readonly dir: string;
  readonly runId: string;
  /** Warehouses to scan. */
  readonly connections: readonly { readonly name: string; readonly scope: Scope }[];
  /** The other warehouses of the project: what is known of them counts, and is brought up to date with the sources. */
  readonly standing?: readonly string[];
  /** All sources of the project. */
  readonly sources?: readonly SourceInput[];
  /** A decision that a person makes with this run. */
  readonly pin?: Pin | undefined;
  readonly scan: ScanConfig;
  /** Opens a connection; the caller closes it. */
  readonly warehouse: (name: string, signal: AbortSignal) => Promise<Warehouse>;
  /** The model that describes tables; undefined where none is configured. */
  readonly model?: ScanModel | undefined;
  /** The model that reads prose, curates and reconciles; undefined where none is configured. */
  readonly reader?: IngestModel | undefined;
  /** For a dry run: what is known of the model that would be asked. */
  readonly ahead?:
    | ({ readonly journal: IngestModel['journal'] | undefined } & Pick<
        EstimateInput,
        'stepBudget' | 'priced'
      >)
    | undefined;
  /** Whether it also reads again what it has read. */
  readonly reExtract?: boolean | undefined;
  /** Whether a source in which nothing is left has been emptied on purpose. */
  readonly allowEmpty?: boolean | undefined;
  /** Brings the search index up to date; called after publishing, with the database that it is in. */
  readonly updateIndex?: (state: State) => Promise<void>;
  /** Stops after the plan: says what would be read, and writes nothing. */
  readonly dryRun?: boolean;
  readonly signal: AbortSignal;
  readonly onEvent?: (event: IngestEvent) => void;
}

/**
 * Brings the project up to date with its warehouses and sources: plan, scan, fetch, extract, compile, validate, publish, index. One that fails is
 * reported, its files stay, and the others go on. The whole run holds the project's lock. Every outcome that is a
 * report comes back as one, with the exit code that it means; only bugs, an abort and failures of the project itself (lock, git,
 * disk) are thrown.
 */
export async function runIngest(input: IngestInput): Promise<IngestReport> {
  const { dir, runId, signal, dryRun = false } = input;
  const run: Run = { ...input, emit: (event) => input.onEvent?.(event), milliseconds: {} };
  const onWait = (message: string) => run.emit({ type: 'lock_awaited', message });
  const outcome = dryRun
    ? await plan(run)
    : await withProjectLock(dir, () => runStages(run), { signal, onWait });
  const queries = outcome.connections.reduce(
    (sum, connection) => sum + connection.queries,
    outcome.queries ?? 0,
  );
  const report = {
    runId,
    dryRun,
    files: noFiles,
    sources: [],
    stages: [],
    conflicts: [],
    ...nothingDone,
    ...outcome,
    queries,
    milliseconds: run.milliseconds,
  };
  return { ...report, exitCode: exitCodeOf(report) };
}

interface Run extends IngestInput {
  readonly emit: (event: IngestEvent) => void;
  readonly milliseconds: Partial<Record<IngestStage, number>>;
}

type Outcome = Pick<IngestReport, 'connections' | 'commit'> & Partial<IngestReport>;

const nothingDone = {
  keptEdits: [],
  newEdits: [],
  stale: [],
  leftAlone: [],
  setAside: [],
  quarantined: [],
  mended: [],
  unfit: [],
};
const noFiles = { added: [], changed: [], removed: [] };

async function plan(run: Run): Promise<Outcome> {
  const described: number[] = [];
  const connections = await eachConnection(run, 'plan', async (warehouse, scope) => {
    const { tables, queries } = await warehouse.introspect(scope, run.signal);
    const { connection } = warehouse;
    const firstSchema = scope.schemas?.[0] ?? warehouse.dialect.defaultSchema;
    const catalog = { connection, dialect: warehouse.dialect.name, firstSchema, tables };
    described.push(
      ...countUndescribedColumns(catalog, {
        known: await claimsOfModels(run, connection),
        journal: run.ahead?.journal,
      }),
    );
    return { tables: tables.length, queries };
  });
  const catalogs = await standingCatalogs(
    run,
    run.connections.map(({ name }) => name),
  );
  const read = await readSources(run, catalogs);
  const standing = catalogs.map((catalog) => ({
    catalog,
    claims: undefined,
    warehouse: () => run.warehouse(catalog.connection, run.signal),
  }));
  const findings = { connections: standing, sources: read.map((one) => one.findings) };
  const { quarantined } = renderProject(
    findings,
    await readProjectFiles(run.dir, projectFolders(findings), { tidy: false }),
  );
  const unfit = findings.sources.flatMap(listUnusedFacts);
  return {
    connections,
    sources: reportsOf(read, findings.sources),
    quarantined,
    unfit,
    estimate: estimateOf(run, findings, described),
    commit: { none: 'dry run' },
  };
}

/** What a model would take; undefined where none is configured. */
function estimateOf(
  { ahead, sources = [], reExtract = false }: Run,
  findings: ProjectFindings,
  tables: readonly number[],
): Estimate | undefined {
  if (ahead === undefined) return undefined;
  const asked = new Set(sources.flatMap(({ name, isAsked }) => (isAsked ? [name] : [])));
  const pending = pendingItems(findings, { sources: asked, isAnew: reExtract });
  const { journal } = ahead;
  const items = pending.filter(
    (one) => reExtract || journal === undefined || paidOutcome(journal, one) === undefined,
  );
  return estimateCost({ ...ahead, tables, items });
}

async function runStages(run: Run): Promise<Outcome> {
  const { dir, runId, signal, emit, pin } = run;
  const state = openState(dir);
  try {
    const scanned: ConnectionFindings[] = [];
    const tried = await scanConnections(run, state, scanned);
    const names = scanned.map(({ catalog }) => catalog.connection);
    const failed = tried
      .filter(({ failure }) => failure !== undefined)
      .map(({ connection }) => connection);
    const others = await standingCatalogs(run, failed);
    const standing = others.map((catalog) => ({
      catalog,
      claims: undefined,
      warehouse: () => run.warehouse(catalog.connection, signal),
    }));
    const read = await readSources(run, [...scanned.map(({ catalog }) => catalog), ...others]);
    const found = {
      connections: [...scanned, ...standing],
      sources: read.map((one) => one.findings),
      pin,
    };
    const isRead =
      names.length > 0 ||
      pin !== undefined ||
      read.some(({ fetched }) => fetched.report.items !== undefined);
    if (!isRead)
      return {
        connections: tried,
        sources: reportsOf(read, found.sources),
        commit: { none: 'nothing was read' },
      };
    const asked = new Set(
      read.flatMap(({ fetched: { input } }) => (input.isAsked ? [input.name] : [])),
    );
    const open = (name: string) => run.warehouse(name, signal);
    const modelRun = {
      dir,
      model: run.reader,
      asked,
      isAnew: run.reExtract === true,
      state,
      open,
      signal,
      emit,
    };
    const { findings, stages, refused, isOver } = await timed(run, 'model', () =>
      runModelStages(found, modelRun),
    );
    const sources = reportsOf(read, findings.sources);
    const checking = { state, model: run.reader, isOver, signal };
    const {
      files,
      render,
      unchecked,
      repaired,
      quarantined: unfounded,
      ...checked
    } = await timed(run, 'validate', () => validateArtifacts(dir, findings, checking));
    signal.throwIfAborted();
    const connections = withUnchecked(tried, unchecked);
    const updated = [
      ...names,
      ...sources.filter(({ items }) => items !== undefined).map(({ connection }) => connection),
    ];
    const message =
      pin === undefined ? `ktx: update ${updated.join(', ')}` : `ktx: decide ${pin.subject}`;
    const onStep = (step: PublishStep, path?: string) => emit({ type: 'publish_step', step, path });
    const publication = {
      dir,
      runId,
      message,
      folders: projectFolders(findings),
      files,
      render,
      onStep,
    };
    const { standing: stands, ...published } = await timed(run, 'publish', () =>
      publish(publication),
    );
    emit({ type: 'published', commit: published.commit, files: published.files });
    await timed(run, 'compare', () =>
      compareMetrics(published.conflicts, { files: stands, state, open, signal }),
    );
    await timed(run, 'index', async () => run.updateIndex?.(state));
    const unfit = findings.sources.flatMap(listUnusedFacts);
    const quarantined = [...unfounded, ...refused];
    saveLeftOut(state, { quarantined, unfit });
    const covered = findings.connections.map(({ catalog }) => catalog.connection);
    const all = [...stages, ...(repaired ? [repaired] : [])];
    return {
      connections,
      sources,
      stages: all,
      unfit,
      quarantined,
      ...checked,
      ...published,
      newEdits: findNewEdits(state, covered, published.keptEdits),
    };
  } finally {
    state.close();
  }
}

/** Scans each warehouse into `findings`. */
function scanConnections(
  run: Run,
  state: State,
  findings: ConnectionFindings[],
): Promise<ConnectionReport[]> {
  const { signal, emit } = run;
  return eachConnection(run, 'scan', async (warehouse, scope) => {
    const { connection } = warehouse;
    const onProgress = ({ phase: step, done, total }: ScanProgress) =>
      emit({ type: 'scan_progressed', connection, step, done, total });
    const known = await claimsOfModels(run, connection);
    const found = await scan({
      warehouse,
      scope,
      state,
      config: run.scan,
      dir: run.dir,
      model: run.model,
      known,
      signal,
      onProgress,
    });
    const { catalog, profiled, reused, left, queries, links } = found;
    if (catalog.tables.length === 0) throw noTables(connection);
    const { claims, ...descriptions } = await timed(run, 'describe', () =>
      describe(run, found, known),
    );
    const held = await claimsOfUnreadTables(run.dir, found);
    findings.push({
      catalog,
      claims: [...scanClaims(found), ...held, ...claims],
      warehouse: async () => warehouse,
    });
    const { failure, ...judged } = found.judgements;
    const judgements = { ...judged, ...(failure && { failure: toFailure(failure) }) };
    const { accepted = [], review = [] } = Object.groupBy(links, ({ status }) => status);
    const relationships = { accepted: accepted.length, review: review.length };
    return {
      tables: catalog.tables.length,
      profiled,
      reused,
      left,
      queries,
      relationships,
      descriptions,
      judgements,
    };
  });
}

/** What git has of the warehouses that this run does not scan, or could not. */
async function standingCatalogs(
  { dir, standing = [] }: Run,
  failed: readonly string[],
): Promise<Catalog[]> {
  const catalogs = await Promise.all(
    [...new Set([...standing, ...failed])].sort().map((name) => loadCatalog(dir, name)),
  );
  return catalogs.filter((catalog) => catalog !== undefined);
}

/** Fetches and extracts; items that did not change are read again too, since code reads for nothing. */
async function readSources(run: Run, catalogs: readonly Catalog[]) {
  const { dir, dryRun = false, allowEmpty, signal, emit, sources = [] } = run;
  const fetched = await timed(run, 'fetch', () =>
    fetchSources(sources, { dir, dryRun, allowEmpty, signal, emit }),
  );
  const claims = await loadReadingClaims(dir, catalogs);
  return timed(run, 'extract', async () =>
    fetched.map((one) => ({ fetched: one, findings: extractSource(one, { catalogs, claims }) })),
  );
}

type Read = Awaited<ReturnType<typeof readSources>>;

function reportsOf(read: Read, sources: readonly SourceFindings[]): SourceReport[] {
  const found = new Map(sources.map((source) => [source.connection, source]));
  return read.map(({ fetched, findings }) =>
    reportSource(fetched, found.get(findings.connection) ?? findings),
  );
}

/** A warehouse that did not open to check what the sources say of it. */
function withUnchecked(
  reports: readonly ConnectionReport[],
  unchecked: readonly { connection: string; error: UserError }[],
): ConnectionReport[] {
  const known = new Set(
    reports.filter(({ failure }) => failure !== undefined).map(({ connection }) => connection),
  );
  const fresh = unchecked.filter(({ connection }) => !known.has(connection));
  return [
    ...reports,
    ...fresh.map(({ connection, error }) => ({
      ...nothingRead,
      connection,
      failure: toFailure(error),
    })),
  ];
}

const nothingRead = {
  tables: 0,
  profiled: 0,
  reused: 0,
  left: 0,
  queries: 0,
  relationships: { accepted: 0, review: 0 },
};

/** What a model said in earlier runs. */
async function claimsOfModels(run: Run, connection: string): Promise<Claim[]> {
  const files = await readProjectFiles(run.dir, [`claims/${connection}`]);
  const withModel = [...files].filter(([, text]) => text.includes('"origin":"model"'));
  return withModel.flatMap(([path, text]) => parseClaims(path, text).claims);
}

async function describe(run: Run, found: ScanResult, known: readonly Claim[]) {
  const { connection } = found.catalog;
  const onProgress = (done: number, total: number) =>
    run.emit({ type: 'description_progressed', connection, done, total });
  const { failure, ...described } = await describeTables({
    found,
    known,
    model: run.model,
    signal: run.signal,
    onProgress,
  });
  return { ...described, ...(failure && { failure: toFailure(failure) }) };
}

/** What was there and cannot be seen any longer must not look like what was dropped. */
function noTables(connection: string): UserError {
  const hint =
    'Check `schemas` of the connection and what its login may see. Files of an earlier ingest stay as they are.';
  return new UserError('no_tables', `${connection} shows no table.`, { hint });
}

type ReadWarehouse = (warehouse: Warehouse, scope: Scope) => Promise<Partial<ConnectionReport>>;

/** A failure that a person can fix is the connection's own; the others go on. */
async function eachConnection(
  run: Run,
  stage: IngestStage,
  read: ReadWarehouse,
): Promise<ConnectionReport[]> {
  const reports: ConnectionReport[] = [];
  for (const { name: connection, scope } of run.connections) {
    const nothing = { ...nothingRead, connection };
    run.signal.throwIfAborted();
    run.emit({ type: 'connection_started', connection });
    try {
      const found = timed(run, stage, async () =>
        read(await run.warehouse(connection, run.signal), scope),
      );
      reports.push({ ...nothing, ...(await found) });
    } catch (error) {
      if (!(error instanceof UserError) || run.signal.aborted) throw error;
      reports.push({ ...nothing, failure: toFailure(error) });
    }
  }
  return reports;
}

function exitCodeOf({
  connections,
  sources,
  stages,
  quarantined,
  leftAlone,
  commit,
  dryRun,
}: Omit<IngestReport, 'exitCode'>): ExitCode {
  const failures = [...connections, ...sources].flatMap(({ failure }) => failure ?? []);
  const asked =
    connections.length + sources.filter(({ items, failure }) => items ?? failure).length;
  const [first, ...others] = new Set(failures.map((failure) => failure.exitCode));
  if (first !== undefined && failures.length === asked) return others.length === 0 ? first : 1;
  const unasked = [
    ...connections.flatMap(({ descriptions, judgements }) =>
      [descriptions?.failure ?? [], judgements?.failure ?? []].flat(),
    ),
    ...stages.flatMap((stage) => stage.failures),
  ];
  const isPending = stages.some(({ pending }) => pending > 0);
  if (unasked.some((failure) => failure.exitCode === 4)) return 4;
  const isUncommitted =
    !dryRun &&
    commit.none !== undefined &&
    !Object.values<string>(noCommitReasons).includes(commit.none);
  const isLeftOut = !dryRun && quarantined.length > 0;
  const isCut = sources.some(({ items }) => items !== undefined && isPartial(items));
  const isUnprofiled = connections.some(({ left }) => left > 0);
  const isLeft =
    isPending || isUnprofiled || isCut || isLeftOut || leftAlone.length > 0 || isUncommitted;
  return failures.length + unasked.length > 0 || isLeft ? 3 : 0;
}

async function timed<T>(run: Run, stage: IngestStage, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  run.milliseconds[stage] = (run.milliseconds[stage] ?? 0) + Math.round(performance.now() - start);
  return result;
}
