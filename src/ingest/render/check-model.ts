import type { Catalog } from '../../context/catalog/catalog.ts';
import type { ProjectFile } from '../../context/catalog/catalog-files.ts';
import type { Diagnostic } from '../../lib/diagnostic.ts';
import { UserError } from '../../lib/error.ts';
import { loadModel } from '../../semantic/load/load.ts';
import { emit } from '../../semantic/emit/emit.ts';
import type { SemanticModel } from '../../semantic/model/model.ts';
import { findDialect } from '../../sql/dialects.ts';
import type { Warehouse } from '../../warehouse/warehouse.ts';
import type { ConnectionFindings } from '../fetch/findings.ts';
import type { Quarantined } from '../report.ts';
import type { PassedProbes } from './passed-probes.ts';
import { datasetProbe, indexTables, listProbes, planProbe, type ModelProbe } from './probes.ts';

interface ModelCheckOptions {
  readonly signal: AbortSignal;
  /** Tries this subject only. */
  readonly only?: string;
  /** What need not be tried again; all that passes is added. */
  readonly passed?: PassedProbes;
  /** Saved queries, tried like the parts of datasets. */
  readonly queries?: readonly ModelProbe[];
}

/** What does not work in the dataset files of a warehouse. */
export interface ModelCheck {
  readonly faults: readonly Quarantined[];
  /** Statements sent to the warehouse. */
  readonly queries: number;
  /** Set if the warehouse could not be opened, so that nobody tried these. */
  readonly unopened?: { readonly error: UserError; readonly untried: readonly UntriedProbe[] };
}

interface UntriedProbe extends Omit<ModelProbe, 'query'> {
  readonly sql: string;
}

/**
 * Loads the dataset files against the catalog, and tries every expression with a query for zero
 * rows.
 */
export async function checkModel(
  { catalog, warehouse: openWarehouse }: ConnectionFindings,
  files: readonly ProjectFile[],
  { signal, only, passed, queries: savedQueries = [] }: ModelCheckOptions,
): Promise<ModelCheck> {
  const { model, diagnostics } = await loadModel({
    dialect: findDialect(catalog.dialect),
    files,
    tables: catalog.tables,
  });
  const faults = listLoadErrors(files, diagnostics);
  const probes = [...listModelProbes(catalog, model), ...savedQueries].filter(
    ({ subject }) => only === undefined || subject === only,
  );
  const { warehouse, error: unopened } = await tryToOpen(probes, openWarehouse, signal);
  const untried: UntriedProbe[] = [];
  // Nothing of a dataset works whose query does not.
  const broken = new Set<string>();
  let queries = 0;
  for (const probe of probes) {
    if (broken.has(probe.location)) continue;
    try {
      const sql = 'sql' in probe ? probe.sql : await probeSql(model, probe);
      if (passed?.has(sql) === true) continue;
      if (warehouse === undefined) {
        untried.push({ ...probe, sql });
        continue;
      }
      queries += 1;
      await warehouse.query(sql, { maxRows: 1, timeoutMs: 30_000 }, signal);
      passed?.add(sql);
    } catch (error) {
      if (!(error instanceof UserError) || signal.aborted) throw error;
      if (probe.kind === 'dataset') broken.add(probe.location);
      if (!isLimit(error, probe)) faults.push(probeFault(probe, error, diagnostics));
    }
  }
  return { faults, queries, ...(unopened && { unopened: { error: unopened, untried } }) };
}

interface OpenAttempt {
  readonly warehouse?: Warehouse;
  readonly error?: UserError;
}

/** The warehouse, or why it could not be opened; neither if there is nothing to try. */
async function tryToOpen(
  probes: readonly unknown[],
  openWarehouse: ConnectionFindings['warehouse'],
  signal: AbortSignal,
): Promise<OpenAttempt> {
  if (probes.length === 0) return {};
  try {
    return { warehouse: await openWarehouse() };
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    return { error };
  }
}

/** The statements that try the dataset files of a warehouse, as far as they can be planned. */
export async function listProbeStatements(
  catalog: Catalog,
  files: readonly ProjectFile[],
): Promise<ReadonlySet<string>> {
  const dialect = findDialect(catalog.dialect);
  const { model } = await loadModel({ dialect, files, tables: catalog.tables });
  const statements = new Set<string>();
  for (const probe of listModelProbes(catalog, model)) {
    try {
      statements.add('sql' in probe ? probe.sql : await probeSql(model, probe));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
    }
  }
  return statements;
}

/** A limit of the planner is no fault of a metric, but leaves a saved query without an answer. */
function isLimit({ code }: UserError, { kind }: Pick<ModelProbe, 'kind'>): boolean {
  return code === 'not_supported' && kind !== 'saved_query';
}

/** The queries of datasets, then what is computed over their rows. */
function listModelProbes(catalog: Catalog, model: SemanticModel) {
  const datasets = [...model.datasets.values()];
  const tables = indexTables(catalog);
  return [
    ...datasets.flatMap((dataset) => datasetProbe(catalog.connection, dataset) ?? []),
    ...datasets.flatMap((dataset) => listProbes(catalog, tables, dataset)),
  ];
}

async function probeSql(model: SemanticModel, { query }: ModelProbe): Promise<string> {
  const planned = await planProbe(model, query);
  return emit({ ...planned, limit: 0 }, model.dialect);
}

function listLoadErrors(
  files: readonly ProjectFile[],
  diagnostics: readonly Diagnostic[],
): Quarantined[] {
  // A file that could not be read is a lone surrogate, followed by the reason.
  const unreadable = new Map(
    files.filter(({ text }) => !text.isWellFormed()).map(({ path, text }) => [path, text.slice(1)]),
  );
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return errors.map(({ file, line, rule, message, hint }) => ({
    subject: file,
    kind: unreadable.has(file) ? 'unreadable' : rule,
    reason: unreadable.get(file) ?? [message, hint].filter(Boolean).join('. '),
    location: `${file}:${line}`,
  }));
}

/**
 * The fault that a failed probe shows. If it is about an unknown name that was found before, the
 * fault points to that line.
 */
function probeFault(
  { subject, kind, location }: Omit<ModelProbe, 'query'>,
  error: UserError,
  diagnostics: readonly Diagnostic[],
): Quarantined {
  const unknownName = diagnostics.find(({ file, rule, message }) => {
    const name = message.split(' ').at(-1) ?? message;
    return file === location && rule === 'unknown_name' && error.message.includes(name);
  });
  const hint = unknownName?.hint;
  return {
    subject,
    kind,
    location: unknownName ? `${unknownName.file}:${unknownName.line}` : location,
    reason: [error.message, ...(hint === undefined ? [] : [hint])].join('. '),
    ...(error.retryable && { isPassing: true }),
  };
}
