import { type ExitCode, UserError } from '../lib/error.ts';
import type { Claim } from '../context/claim.ts';
import { parseClaims } from '../context/claims-file.ts';
import { claimsOf } from '../scan/claims.ts';
import type { ScanConfig } from '../scan/config.ts';
import { describeTables, type ScanModel } from '../scan/descriptions.ts';
import { scan, type ScanProgress, type ScanResult } from '../scan/scan.ts';
import { withProjectLock } from '../store/lock.ts';
import { openState, type State } from '../store/state.ts';
import type { Scope, Warehouse } from '../warehouse/warehouse.ts';
import type { ConnectionReport, Failure, IngestEvent, IngestReport, PublishStep, Stage } from './event.ts';
import { newEdits } from './new-edits.ts';
import { readProjectFiles } from './project-files.ts';
import { publish, settled } from './publish.ts';
import { foldersOf, type ConnectionFindings } from './render.ts';
import { validate } from './validate.ts';

export interface IngestInput {
  /** The folder that holds `ktx.yaml`. */
  readonly dir: string;
  readonly runId: string;
  readonly connections: readonly { readonly name: string; readonly scope: Scope }[];
  readonly scan: ScanConfig;
  /** Opens a connection; the caller closes it. */
  readonly warehouse: (name: string, signal: AbortSignal) => Promise<Warehouse>;
  /** The model that describes tables; undefined where none is configured. */
  readonly model?: ScanModel | undefined;
  /** Brings the search index up to date; called after publishing, with the database that it is in. */
  readonly updateIndex?: (state: State) => Promise<void>;
  /** Stops after the plan: says what would be read, and writes nothing. */
  readonly dryRun?: boolean;
  readonly signal: AbortSignal;
  readonly onEvent?: (event: IngestEvent) => void;
}

/**
 * Brings the project up to date with the connections: plan, scan, compile, validate, publish, index. One that fails is
 * reported, its files stay, and the others go on. The whole run holds the project's lock. Every outcome that is a
 * report comes back as one, with the exit code that it means; only bugs, an abort and failures of the project itself (lock, git,
 * disk) are thrown.
 */
export async function ingest(input: IngestInput): Promise<IngestReport> {
  const { dir, runId, signal, dryRun = false } = input;
  const run: Run = { ...input, emit: (event) => input.onEvent?.(event), milliseconds: {} };
  const onWait = (message: string) => run.emit({ type: 'lock_awaited', message });
  const outcome = dryRun ? await plan(run) : await withProjectLock(dir, () => runStages(run), { signal, onWait });
  const queries = outcome.connections.reduce((sum, connection) => sum + connection.queries, outcome.queries ?? 0);
  const report = { runId, dryRun, files: noFiles, ...nothingDone, ...outcome, queries, milliseconds: run.milliseconds };
  return { ...report, exitCode: exitCodeOf(report) };
}

interface Run extends IngestInput {
  readonly emit: (event: IngestEvent) => void;
  readonly milliseconds: Partial<Record<Stage, number>>;
}

type Outcome = Pick<IngestReport, 'connections' | 'commit'> & Partial<IngestReport>;

const nothingDone = { keptEdits: [], newEdits: [], stale: [], leftAlone: [], setAside: [], quarantined: [] };
const noFiles = { added: [], changed: [], removed: [] };

async function plan(run: Run): Promise<Outcome> {
  const connections = await eachConnection(run, 'plan', async (warehouse, scope) => {
    const { tables, queries } = await warehouse.introspect(scope, run.signal);
    return { tables: tables.length, queries };
  });
  return { connections, commit: { none: 'dry run' } };
}

async function runStages(run: Run): Promise<Outcome> {
  const { dir, runId, signal, emit } = run;
  const state = openState(dir);
  try {
    const findings: ConnectionFindings[] = [];
    const connections = await eachConnection(run, 'scan', async (warehouse, scope) => {
      const { connection } = warehouse;
      const onProgress = ({ phase: step, done, total }: ScanProgress) => emit({ type: 'scan_progressed', connection, step, done, total });
      const known = await claimsOfModels(run, connection);
      const found = await scan({ warehouse, scope, state, config: run.scan, model: run.model, known, signal, onProgress });
      const { catalog, profiled, reused, queries, links } = found;
      if (catalog.tables.length === 0) throw noTables(connection);
      const { claims, ...descriptions } = await timed(run, 'describe', () => describe(run, found, known));
      findings.push({ catalog, claims: [...claimsOf(found), ...claims], warehouse });
      const { failure, ...judged } = found.judgements;
      const judgements = { ...judged, ...(failure && { failure: failureOf(failure) }) };
      const { accepted = [], review = [] } = Object.groupBy(links, ({ status }) => status);
      const relationships = { accepted: accepted.length, review: review.length };
      return { tables: catalog.tables.length, profiled, reused, queries, relationships, descriptions, judgements };
    });
    if (findings.length === 0) return { connections, commit: { none: 'nothing was read' } };
    const { files, render, ...checked } = await timed(run, 'validate', () => validate(dir, findings, { state, signal }));
    signal.throwIfAborted();
    const names = findings.map(({ catalog }) => catalog.connection);
    const onStep = (step: PublishStep, path?: string) => emit({ type: 'publish_step', step, path });
    const publication = { dir, runId, message: `ktx: update ${names.join(', ')}`, folders: foldersOf(names), files, render, onStep };
    const published = await timed(run, 'publish', () => publish(publication));
    emit({ type: 'published', commit: published.commit, files: published.files });
    await timed(run, 'index', async () => run.updateIndex?.(state));
    return { connections, ...checked, ...published, newEdits: newEdits(state, names, published.keptEdits) };
  } finally {
    state.close();
  }
}

/** What a model said in earlier runs. */
async function claimsOfModels(run: Run, connection: string): Promise<Claim[]> {
  const files = await readProjectFiles(run.dir, [`claims/${connection}`]);
  const withModel = [...files].filter(([, text]) => text.includes('"origin":"model"'));
  return withModel.flatMap(([path, text]) => parseClaims(path, text).claims);
}

async function describe(run: Run, found: ScanResult, known: readonly Claim[]) {
  const { connection } = found.catalog;
  const onProgress = (done: number, total: number) => run.emit({ type: 'description_progressed', connection, done, total });
  const { failure, ...described } = await describeTables({ found, known, model: run.model, signal: run.signal, onProgress });
  return { ...described, ...(failure && { failure: failureOf(failure) }) };
}

/** What was there and cannot be seen any longer must not look like what was dropped. */
function noTables(connection: string): UserError {
  const hint = 'Check `schemas` of the connection and what its login may see. Files of an earlier ingest stay as they are.';
  return new UserError('no_tables', `${connection} shows no table.`, { hint });
}

type Read = (warehouse: Warehouse, scope: Scope) => Promise<Partial<ConnectionReport>>;

/** A failure that a person can fix is the connection's own; the others go on. */
async function eachConnection(run: Run, stage: Stage, read: Read): Promise<ConnectionReport[]> {
  const reports: ConnectionReport[] = [];
  for (const { name: connection, scope } of run.connections) {
    const nothing = { connection, tables: 0, profiled: 0, reused: 0, queries: 0, relationships: { accepted: 0, review: 0 } };
    run.signal.throwIfAborted();
    run.emit({ type: 'connection_started', connection });
    try {
      const found = timed(run, stage, async () => read(await run.warehouse(connection, run.signal), scope));
      reports.push({ ...nothing, ...(await found) });
    } catch (error) {
      if (!(error instanceof UserError) || run.signal.aborted) throw error;
      reports.push({ ...nothing, failure: failureOf(error) });
    }
  }
  return reports;
}

function failureOf({ code, message, hint, retryable, exitCode }: UserError): Failure {
  return { code, message, hint, retryable, exitCode };
}

function exitCodeOf({ connections, quarantined, leftAlone, commit, dryRun }: Omit<IngestReport, 'exitCode'>): ExitCode {
  const failures = connections.flatMap(({ failure }) => failure ?? []);
  const [first, ...others] = new Set(failures.map((failure) => failure.exitCode));
  if (first !== undefined && failures.length === connections.length) return others.length === 0 ? first : 1;
  const undescribed = connections.flatMap(({ descriptions, judgements }) =>
    [descriptions?.failure ?? [], judgements?.failure ?? []].flat(),
  );
  if (undescribed.some((failure) => failure.exitCode === 4)) return 4;
  const isUncommitted = !dryRun && commit.none !== undefined && !Object.values<string>(settled).includes(commit.none);
  return failures.length + undescribed.length > 0 || quarantined.length > 0 || leftAlone.length > 0 || isUncommitted ? 3 : 0;
}

async function timed<T>(run: Run, stage: Stage, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  run.milliseconds[stage] = (run.milliseconds[stage] ?? 0) + Math.round(performance.now() - start);
  return result;
}
