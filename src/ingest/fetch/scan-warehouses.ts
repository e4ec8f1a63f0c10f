import type { Catalog } from '../../context/catalog/catalog.ts';
import { loadCatalog, loadReadableCatalog } from '../../context/catalog/catalog-files.ts';
import { type ColumnLabels, readColumnLabels } from '../../context/catalog/column-labels.ts';
import type { Claim } from '../../context/claims/claim.ts';
import { parseClaims } from '../../context/claims/claims-file.ts';
import { UserError } from '../../lib/error.ts';
import { describeTables } from '../../scan/describe/descriptions.ts';
import { historyClaims, historyExtractor, tableUsages } from '../../scan/history/history-claims.ts';
import { isForReview } from '../../scan/links/polymorphic.ts';
import { measureClaims } from '../../scan/measures/measure-claims.ts';
import { scanClaims } from '../../scan/scan-claims.ts';
import { scan, type ScanProgress, type ScanResult } from '../../scan/scan.ts';
import { tableKey } from '../../sql/dialect.ts';
import type { State } from '../../store/state.ts';
import type { HistoryConfig } from '../../warehouse/history/history-config.ts';
import type { Scope, Warehouse, WarehouseSchema } from '../../warehouse/warehouse.ts';
import { type IngestedWarehouse, measureStage, type PipelineRun } from '../ingest-run.ts';
import { type FileTree, filesIn, readProjectFiles } from '../publish/project-files.ts';
import { toFailure, type ConnectionReport } from '../report.ts';
import { claimsOfUnreadTables } from './claims-of-unread-tables.ts';
import type { ConnectionFindings } from './findings.ts';

interface ScannedWarehouses {
  /** For each connection, also for those that failed. */
  readonly reports: readonly ConnectionReport[];
  readonly findings: readonly ConnectionFindings[];
  /** The structure of each warehouse that was scanned, by connection. */
  readonly schemas: ReadonlyMap<string, WarehouseSchema>;
  /** Until when tables of the same markers count as unchanged, in milliseconds since 1970. */
  readonly freshUntil: number;
}

interface ScanInputs {
  /** The structure of warehouses, if it was read already. */
  readonly schemas?: ReadonlyMap<string, WarehouseSchema>;
  /** The files of the project, if they were read already. */
  readonly files?: FileTree;
}

/** Scans the warehouses of the run, one after the other. */
export async function scanWarehouses(
  run: PipelineRun,
  state: State,
  { schemas, files }: ScanInputs = {},
): Promise<ScannedWarehouses> {
  const findings: ConnectionFindings[] = [];
  const scannedSchemas = new Map<string, WarehouseSchema>();
  let freshUntil = Infinity;
  // A folder that is a link ends the run, not only one connection: nothing could be written there.
  const folders = run.connections.map(({ name }) => `semantic-layer/${name}`);
  // Read now, whatever was read before: nothing that a person keeps back meanwhile may be profiled.
  const labels = readColumnLabels(await readProjectFiles(run.dir, folders));
  const reports = await forEachWarehouse(run, 'scan', async (warehouse, { scope, history }) => {
    const { connection } = warehouse;
    const target = { warehouse, scope, history, labels, files, schema: schemas?.get(connection) };
    const scanned = await scanWarehouse(run, state, target);
    findings.push(scanned.findings);
    scannedSchemas.set(connection, scanned.schema);
    freshUntil = Math.min(freshUntil, scanned.freshUntil);
    return scanned.report;
  });
  return { reports, findings, schemas: scannedSchemas, freshUntil };
}

interface WarehouseScan {
  readonly warehouse: Warehouse;
  readonly scope: Scope;
  readonly history: HistoryConfig | undefined;
  /** What people wrote about the columns of all connections. */
  readonly labels: ColumnLabels;
  /** Undefined if nobody has read it yet. */
  readonly schema: WarehouseSchema | undefined;
  /** As in `ScanInputs`. */
  readonly files: FileTree | undefined;
}

async function scanWarehouse(
  run: PipelineRun,
  state: State,
  { warehouse, scope, history, labels, schema, files }: WarehouseScan,
) {
  const { connection } = warehouse;
  const known = await loadModelClaims(run, connection, files);
  const recorded = await loadReadableCatalog(run.dir, connection);
  const scanned = await scan({
    warehouse,
    scope,
    recorded,
    schema,
    state,
    config: run.scan,
    history,
    labels,
    dir: run.dir,
    model: run.model,
    embeddings: run.embeddings,
    known,
    signal: run.signal,
    onPlan: (plan) => run.emit({ type: 'scan_planned', connection, ...plan }),
    onProgress: ({ phase: step, done, total }: ScanProgress) =>
      run.emit({ type: 'scan_progressed', connection, step, done, total }),
  });
  const { catalog, profiled, reused, left, queries, links } = scanned;
  if (catalog.tables.length === 0) throw noTablesError(connection);
  requireKnownTables(scanned, recorded);
  const { claims, ...descriptions } = await measureStage(run, 'describe', () =>
    describeScan(run, scanned, known),
  );
  const unreadClaims = await claimsOfUnreadTables(run.dir, scanned);
  const findings: ConnectionFindings = {
    catalog,
    claims: [
      ...scanClaims(scanned),
      ...measureClaims(scanned),
      ...unreadClaims,
      ...(await claimHistory(run, scanned)),
      ...claims,
    ],
    usage: scanned.history.summary && tableUsages(scanned.history.summary),
    warehouse: async () => warehouse,
  };
  const { failure, ...judged } = scanned.judgements;
  const accepted = links.filter(({ status }) => status === 'accepted');
  const report = {
    tables: catalog.tables.length,
    profiled,
    reused,
    left,
    queries,
    relationships: { accepted: accepted.length, review: links.filter(isForReview).length },
    descriptions,
    judgements: { ...judged, ...(failure && { failure: toFailure(failure) }) },
    ...(scanned.names && { names: reportNames(scanned.names) }),
    ...(history?.enabled === true && { history: reportHistory(scanned) }),
    unreadFiles: scanned.schema.unreadFiles,
    assumptions: scanned.schema.assumptions,
  };
  return { findings, report, schema: scanned.schema, freshUntil: scanned.freshUntil };
}

/** What the history says; what earlier runs recorded of it, if this run could not read it. */
async function claimHistory({ dir }: PipelineRun, { catalog, history }: ScanResult) {
  if (history.summary !== undefined) return historyClaims(history.summary, catalog);
  const files = await readProjectFiles(dir, [`claims/${catalog.connection}`]);
  const recorded = [...files].flatMap(([path, text]) => parseClaims(path, text).claims);
  return recorded.filter(({ evidence }) =>
    evidence.some(({ extractor }) => extractor === historyExtractor),
  );
}

function reportHistory({ history }: ScanResult) {
  const { failure, summary, statements, hidden, since } = history;
  return {
    statements,
    hidden,
    ...(since !== undefined && { since }),
    tables: summary?.tables.length ?? 0,
    proposed: summary?.metrics.length ?? 0,
    ...(failure && { failure: toFailure(failure) }),
  };
}

function reportNames({ failure, ...compared }: NonNullable<ScanResult['names']>) {
  return { ...compared, ...(failure && { failure: toFailure(failure) }) };
}

async function describeScan(run: PipelineRun, scanned: ScanResult, known: readonly Claim[]) {
  const { connection } = scanned.catalog;
  const { failure, ...described } = await describeTables({
    found: scanned,
    known,
    model: run.model,
    signal: run.signal,
    onProgress: (done: number, total: number) =>
      run.emit({ type: 'description_progressed', connection, done, total }),
  });
  return { ...described, ...(failure && { failure: toFailure(failure) }) };
}

/** The claims that models made in earlier runs. `known` are files that were read already. */
export async function loadModelClaims(
  { dir }: Pick<PipelineRun, 'dir'>,
  connection: string,
  known?: FileTree,
): Promise<Claim[]> {
  const folders = [`claims/${connection}`];
  const files = known ? filesIn(known, folders) : await readProjectFiles(dir, folders);
  const withModel = [...files].filter(([, text]) => text.includes('"origin":"model"'));
  return withModel.flatMap(([path, text]) => parseClaims(path, text).claims);
}

/** The findings of warehouses that the run does not scan, or could not: their recorded catalogs. */
export async function loadUnscannedWarehouses(
  { dir, otherWarehouses = [], warehouse, signal }: PipelineRun,
  failed: readonly string[],
): Promise<ConnectionFindings[]> {
  const names = [...new Set([...otherWarehouses, ...failed])].sort();
  const catalogs = await Promise.all(names.map((name) => loadCatalog(dir, name)));
  return catalogs
    .filter((catalog): catalog is Catalog => catalog !== undefined)
    .map((catalog) => ({
      catalog,
      claims: undefined,
      warehouse: () => warehouse(catalog.connection, signal),
    }));
}

/** The report of a warehouse that was not read. */
export const emptyConnectionReport = {
  tables: 0,
  profiled: 0,
  reused: 0,
  left: 0,
  queries: 0,
  relationships: { accepted: 0, review: 0 },
};

/**
 * Opens and reads each warehouse. A failure that a person can fix is reported for its connection,
 * and the others go on.
 */
export async function forEachWarehouse(
  run: PipelineRun,
  stage: 'plan' | 'scan',
  read: (warehouse: Warehouse, input: IngestedWarehouse) => Promise<Partial<ConnectionReport>>,
): Promise<ConnectionReport[]> {
  const reports: ConnectionReport[] = [];
  for (const input of run.connections) {
    const { name: connection } = input;
    const emptyReport = { ...emptyConnectionReport, connection };
    run.signal.throwIfAborted();
    run.emit({ type: 'connection_started', connection });
    try {
      const report = await measureStage(run, stage, async () =>
        read(await run.warehouse(connection, run.signal), input),
      );
      reports.push({ ...emptyReport, ...report });
    } catch (error) {
      if (!(error instanceof UserError) || run.signal.aborted) throw error;
      reports.push({ ...emptyReport, failure: toFailure(error) });
    }
  }
  return reports;
}

/**
 * A table whose files cannot be read, and whose columns this machine has never seen, must not look
 * like a dropped one.
 */
function requireKnownTables(
  { catalog, schema: { unreadFiles = [] } }: Pick<ScanResult, 'catalog' | 'schema'>,
  recorded: Catalog | undefined,
): void {
  if (unreadFiles.length === 0) return;
  const present = new Set(catalog.tables.map(tableKey));
  const gone = (recorded?.tables ?? []).filter((known) => !present.has(tableKey(known)));
  const unread = unreadFiles.find(({ table }) =>
    gone.some((known) => known.table === table || known.table.startsWith(`${table}_`)),
  );
  if (unread === undefined) return;
  throw new UserError('files_unread', unread.reason, {
    hint: 'Repair the file, or remove it if its table is to go. Files of an earlier ingest stay as they are.',
  });
}

/**
 * An empty warehouse is an error: tables that can no longer be seen must not look like dropped
 * ones.
 */
function noTablesError(connection: string): UserError {
  const hint =
    'Check `schemas` of the connection and what its login may see. Files of an earlier ingest stay as they are.';
  return new UserError('no_tables', `${connection} shows no table.`, { hint });
}
