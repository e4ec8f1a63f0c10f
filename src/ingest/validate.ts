import type { Catalog } from '../context/catalog.ts';
import { subjects } from '../context/claim.ts';
import { shortHash } from '../lib/hash.ts';
import { canonicalJson } from '../lib/json.ts';
import { UserError } from '../lib/error.ts';
import { emit } from '../semantic/emit.ts';
import { loadModel } from '../semantic/load.ts';
import { columnIdentity, metricAddress, type ModelDataset, type ModelMetric, type SemanticModel } from '../semantic/model.ts';
import { plan } from '../semantic/plan.ts';
import { querySchema } from '../semantic/query.ts';
import type { State } from '../store/state.ts';
import type { Warehouse } from '../warehouse/warehouse.ts';
import type { Quarantined } from './event.ts';
import { readProjectFiles, type FileView } from './project-files.ts';
import { targetsOf } from './publish.ts';
import { foldersOf, renderProject, type ConnectionFindings } from './render.ts';

export interface Validation {
  /** What may be published: without the claims that failed. */
  readonly findings: readonly ConnectionFindings[];
  /** Those claims, and what of people's does not work (it stays in their files). */
  readonly quarantined: readonly Quarantined[];
  readonly queries: number;
}

interface ValidationInput {
  readonly dir: string;
  readonly findings: readonly ConnectionFindings[];
  readonly state: State;
  readonly signal: AbortSignal;
}

/** Checks the artifacts as they will stand: schema and references, columns against the catalog, every expression by a zero-row query. */
export async function validate(input: ValidationInput): Promise<Validation> {
  const names = input.findings.map(({ catalog }) => catalog.connection);
  const spanning = names.map((name) => `semantic-layer/${name}.yaml`);
  const files = await readProjectFiles(input.dir, [...foldersOf(names), ...spanning]);
  const rendering = renderProject(input.findings, files);
  for (const { path, text } of targetsOf(rendering)) {
    if (text === undefined) files.delete(path);
    else files.set(path, text);
  }
  const results = [];
  for (const one of input.findings) results.push({ one, ...(await validateConnection(input, one, files)) });
  const quarantined = [...rendering.quarantined, ...results.flatMap((result) => result.quarantined)];
  const failed = new Set(quarantined.map(({ subject }) => subject));
  return {
    findings: results.map(({ one }) => ({ ...one, claims: one.claims.filter(({ subject }) => !failed.has(subject)) })),
    quarantined,
    queries: results.reduce((sum, { queries }) => sum + queries, 0),
  };
}

async function validateConnection({ state, signal }: ValidationInput, { catalog, warehouse }: ConnectionFindings, view: FileView) {
  const { connection } = catalog;
  const isModel = new RegExp(`^semantic-layer/${connection}(/[^/.][^/]*)?\\.ya?ml$`);
  const files = [...view].filter(([path]) => isModel.test(path)).map(([path, text]) => ({ path, text }));
  const { model, diagnostics } = await loadModel({ connection, dialect: warehouse.dialect, files });
  const quarantined: Quarantined[] = diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ file, line, rule, message, hint }) => ({
      subject: file,
      kind: rule,
      reason: hint === undefined ? message : `${message}. ${hint}`,
      location: `${file}:${line}`,
    }));
  const passed = passedChecks(state, shortHash(canonicalJson([connection, catalog.tables]), 32));
  let queries = 0;
  for (const dataset of model.datasets.values()) {
    const mark = shortHash(view.get(dataset.file) ?? '', 32);
    if (passed.has(dataset.file, mark)) continue;
    const faults = columnFaults(catalog, dataset);
    for (const probe of probesOf(catalog, dataset)) {
      queries += 1;
      const reason = await probeFault({ model, warehouse, signal }, probe);
      if (reason !== undefined) faults.push({ subject: probe.subject, kind: probe.kind, reason, location: dataset.file });
    }
    quarantined.push(...faults);
    if (faults.length === 0) passed.add(dataset.file, mark);
  }
  return { quarantined, queries };
}

/** Fields that stand for a column which the table does not have; and a table which the warehouse does not have. */
function columnFaults(catalog: Catalog, dataset: ModelDataset): Quarantined[] {
  if (dataset.relation.kind === 'query') return [];
  const columns = columnsOf(catalog, dataset);
  const place = { location: dataset.file };
  if (columns === undefined) {
    return [
      {
        subject: subjects.dataset(catalog.connection, dataset.name),
        kind: 'dataset',
        reason: `there is no table ${dataset.relation.parts.join('.')}`,
        ...place,
      },
    ];
  }
  return [...dataset.fields.values()]
    .filter(({ name, expr }) => expr === undefined && !columns.has(name.toLowerCase()))
    .map(({ name }) => ({
      subject: subjects.field(catalog.connection, dataset.name, name),
      kind: 'field',
      reason: `the table has no column ${name}`,
      ...place,
    }));
}

interface Probe {
  readonly subject: string;
  readonly kind: string;
  readonly query: { readonly metrics?: string[]; readonly dimensions?: string[]; readonly segments?: string[] };
}

/** What a person (or a model) wrote as SQL; plain columns and the count of rows need no proof. */
function probesOf(catalog: Catalog, dataset: ModelDataset): Probe[] {
  const { connection } = catalog;
  const columns = columnsOf(catalog, dataset) ?? new Set();
  const isPlain = (name: string) => columns.has(columnIdentity(dataset, name).toLowerCase());
  const visible = [...dataset.fields.values()].filter(({ hidden }) => !hidden);
  const written = visible
    .filter(({ name, expr }) => (expr !== undefined || dataset.relation.kind === 'query') && !isPlain(name))
    .map(({ name }) => name);
  const shown = visible.find(({ name }) => isPlain(name)) ?? visible[0];
  const metrics = [...dataset.metrics.values()].filter((metric) => !metric.hidden && !isRowCount(metric));
  return [
    ...written.map((name) => ({
      subject: subjects.field(connection, dataset.name, name),
      kind: 'field',
      query: { dimensions: [`${dataset.name}.${name}`] },
    })),
    ...metrics.map((metric) => ({
      subject: subjects.metric(connection, dataset.name, metric.name),
      kind: 'metric',
      query: { metrics: [metricAddress(metric)] },
    })),
    ...[...dataset.segments.keys()].flatMap((name) => {
      const query = { dimensions: [`${dataset.name}.${shown?.name}`], segments: [`${dataset.name}.${name}`] };
      return shown === undefined ? [] : [{ subject: `segment:${connection}.${dataset.name}.${name}`, kind: 'segment', query }];
    }),
  ];
}

function isRowCount({ definition, where }: ModelMetric): boolean {
  return definition.kind === 'aggregate' && definition.function === 'count' && definition.of === undefined && where === undefined;
}

function columnsOf(catalog: Catalog, { relation }: ModelDataset): Set<string> | undefined {
  if (relation.kind === 'query') return undefined;
  const [name, schema = catalog.firstSchema] = relation.parts.map((part) => part.toLowerCase()).toReversed();
  const table = catalog.tables.find((one) => one.table.toLowerCase() === name && one.schema.toLowerCase() === schema.toLowerCase());
  return table && new Set(table.columns.map((column) => column.name.toLowerCase()));
}

/** Why the probe fails; undefined where it runs, or where the planner cannot do it yet. */
async function probeFault(
  { model, warehouse, signal }: { model: SemanticModel; warehouse: Warehouse; signal: AbortSignal },
  { query }: Probe,
): Promise<string | undefined> {
  try {
    const { sql } = emit({ ...plan(model, querySchema.parse(query)), limit: 0 }, model.dialect);
    await warehouse.query(sql, { maxRows: 1, timeoutMs: 30_000 }, signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    return error.code === 'not_supported' ? undefined : error.message;
  }
}

/** Remembers which text of which file passed, for one state of the catalog. */
function passedChecks({ db }: State, catalog: string) {
  db.exec('CREATE TABLE IF NOT EXISTS passed_checks (path TEXT PRIMARY KEY, mark TEXT NOT NULL)');
  const known = db.prepare('SELECT 1 FROM passed_checks WHERE path = ? AND mark = ?');
  const save = db.prepare('INSERT OR REPLACE INTO passed_checks VALUES (?, ?)');
  return {
    has: (path: string, mark: string) => known.get(path, `${catalog} ${mark}`) !== undefined,
    add: (path: string, mark: string) => void save.run(path, `${catalog} ${mark}`),
  };
}
