import { type ExitCode, UserError } from '../lib/error.ts';
import { claimsOf } from '../scan/claims.ts';
import type { ScanConfig } from '../scan/config.ts';
import { scan, type ScanProgress } from '../scan/scan.ts';
import { withProjectLock } from '../store/lock.ts';
import { openState, type State } from '../store/state.ts';
import type { Scope, Warehouse } from '../warehouse/warehouse.ts';
import type { ConnectionReport, Failure, IngestEvent, IngestReport, Quarantined, Stage } from './event.ts';
import { publish, type Published } from './publish.ts';
import { foldersOf, renderProject, type ConnectionFindings } from './render.ts';
import { validate } from './validate.ts';

export interface IngestInput {
  /** The folder that holds `ktx.yaml`. */
  readonly dir: string;
  readonly runId: string;
  readonly connections: readonly { readonly name: string; readonly scope: Scope }[];
  readonly scan: ScanConfig;
  /** Opens a connection; the caller closes it. */
  readonly warehouse: (name: string, signal: AbortSignal) => Promise<Warehouse>;
  /** Brings the search index up to date with these connections; called after publishing. */
  readonly updateIndex?: (connections: readonly string[]) => Promise<void>;
  /** Stops after the plan: says what would be read, and writes nothing. */
  readonly dryRun?: boolean;
  /** How long to wait for another ktx process; see `withProjectLock`. */
  readonly waitMs?: number;
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
  const run = newRun(input);
  run.emit({ type: 'ingest_started', runId: input.runId, connections: input.connections.map(({ name }) => name) });
  if (input.dryRun === true) return finish(run, await planOnly(run));
  const options = {
    waitMs: input.waitMs,
    signal: input.signal,
    onWait: (message: string) => run.emit({ type: 'lock_awaited', message }),
  };
  return withProjectLock(
    input.dir,
    async () => {
      const state = openState(input.dir);
      try {
        return finish(run, await runStages(run, state));
      } finally {
        state.close();
      }
    },
    options,
  );
}

interface Run extends IngestInput {
  readonly emit: (event: IngestEvent) => void;
  readonly milliseconds: Partial<Record<Stage, number>>;
}

interface Outcome {
  readonly connections: readonly Scanned['report'][];
  readonly published?: Published;
  readonly quarantined: readonly Quarantined[];
  /** Statements sent by the checks. */
  readonly queries?: number;
}

function newRun(input: IngestInput): Run {
  return { ...input, emit: (event) => input.onEvent?.(event), milliseconds: {} };
}

async function planOnly(run: Run): Promise<Outcome> {
  const connections = await eachConnection(run, 'plan', async (warehouse, scope) => {
    const { tables, queries } = await warehouse.introspect(scope, run.signal);
    return { report: { ...emptyReport(warehouse.connection), tables: tables.length, queries } };
  });
  return { connections: connections.map(({ report }) => report), quarantined: [] };
}

async function runStages(run: Run, state: State): Promise<Outcome> {
  const scanned = await scanConnections(run, state);
  const findings = scanned.flatMap(({ found }) => found ?? []);
  const connections = scanned.map(({ report }) => report);
  if (findings.length === 0) return { connections, quarantined: [] };
  const checked = await timed(run, 'validate', () => validate({ dir: run.dir, findings, state, signal: run.signal }));
  for (const quarantined of checked.quarantined) run.emit({ type: 'claim_quarantined', quarantined });
  run.signal.throwIfAborted();
  const names = findings.map(({ catalog }) => catalog.connection);
  const published = await timed(run, 'publish', () =>
    publish({
      dir: run.dir,
      runId: run.runId,
      message: `ktx: update ${names.join(', ')}`,
      folders: foldersOf(names),
      render: (view) => renderProject(checked.findings, view),
      onStep: (step, path) => run.emit({ type: 'publish_step', step, ...(path === undefined ? {} : { path }) }),
    }),
  );
  run.emit({ type: 'published', commit: published.commit, files: published.files });
  await timed(run, 'index', async () => run.updateIndex?.(names));
  return { connections, published, quarantined: checked.quarantined, queries: checked.queries };
}

interface Scanned {
  readonly report: ConnectionReport & { readonly error?: UserError };
  readonly found?: ConnectionFindings;
}

async function scanConnections(run: Run, state: State): Promise<Scanned[]> {
  return eachConnection(run, 'scan', async (warehouse, scope): Promise<Scanned> => {
    const { connection } = warehouse;
    const onProgress = ({ phase, done, total }: ScanProgress) =>
      run.emit({ type: 'scan_progressed', connection, step: phase, done, total });
    const result = await scan({ warehouse, scope, state, config: run.scan, signal: run.signal, onProgress });
    const { catalog, profiled, reused, queries, links } = result;
    // What was there and cannot be seen any longer must not look like what was dropped.
    if (catalog.tables.length === 0) {
      throw new UserError('no_tables', `${connection} shows no table.`, {
        hint: 'Check `schemas` of the connection and what its login may see. Files of an earlier ingest stay as they are.',
      });
    }
    const count = (status: 'accepted' | 'review') => links.filter((link) => link.status === status).length;
    const relationships = { accepted: count('accepted'), review: count('review') };
    const report = { connection, tables: catalog.tables.length, profiled, reused, queries, relationships };
    return { report, found: { catalog, claims: claimsOf(result), warehouse } };
  });
}

/** A failure that a person can fix is the connection's own; the others go on. */
async function eachConnection(run: Run, stage: Stage, read: (warehouse: Warehouse, scope: Scope) => Promise<Scanned>): Promise<Scanned[]> {
  const results: Scanned[] = [];
  for (const { name, scope } of run.connections) {
    run.signal.throwIfAborted();
    run.emit({ type: 'connection_started', connection: name });
    try {
      results.push(await timed(run, stage, async () => read(await run.warehouse(name, run.signal), scope)));
    } catch (error) {
      if (!(error instanceof UserError) || run.signal.aborted) throw error;
      const { code, message, hint, retryable } = error;
      const failure: Failure = { code, message, hint, retryable };
      run.emit({ type: 'connection_failed', connection: name, error: failure });
      results.push({ report: { ...emptyReport(name), failure, error } });
    }
  }
  return results;
}

function emptyReport(connection: string): ConnectionReport {
  return { connection, tables: 0, profiled: 0, reused: 0, queries: 0, relationships: { accepted: 0, review: 0 } };
}

function finish(run: Run, { connections, published, quarantined, queries = 0 }: Outcome): IngestReport {
  const { rendering, setAside = [], files = { added: [], changed: [], removed: [] } } = published ?? {};
  const report: IngestReport = {
    runId: run.runId,
    dryRun: run.dryRun === true,
    connections: connections.map(({ error: _error, ...connection }) => connection),
    files,
    keptEdits: rendering?.keptEdits ?? [],
    stale: rendering?.stale ?? [],
    leftAlone: (rendering?.leftAlone ?? []).map(({ path, reason }) => ({ path, reason })),
    setAside,
    quarantined,
    commit: published?.commit ?? { none: run.dryRun === true ? 'dry run' : 'nothing was read' },
    queries: connections.reduce((sum, connection) => sum + connection.queries, queries),
    milliseconds: run.milliseconds,
    exitCode: exitCode(connections, published, quarantined),
  };
  run.emit({ type: 'ingest_finished', report });
  return report;
}

function exitCode(connections: Outcome['connections'], published: Published | undefined, quarantined: readonly Quarantined[]): ExitCode {
  const errors = connections.flatMap(({ error }) => error ?? []);
  if (errors.length > 0 && errors.length === connections.length) {
    const codes = new Set(errors.map((error) => error.exitCode));
    return codes.size === 1 ? (errors[0]?.exitCode ?? 1) : 1;
  }
  const uncommitted = published !== undefined && published.commit.id === undefined && published.commit.none !== 'unchanged';
  const isPartial = errors.length > 0 || quarantined.length > 0 || uncommitted || (published?.rendering.leftAlone.length ?? 0) > 0;
  return isPartial ? 3 : 0;
}

async function timed<T>(run: Run, stage: Stage, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  const ms = Math.round(performance.now() - start);
  run.milliseconds[stage] = (run.milliseconds[stage] ?? 0) + ms;
  run.emit({ type: 'stage_finished', stage, ms });
  return result;
}
