import type { Catalog } from '../../context/catalog/catalog.ts';
import type { ProjectFile } from '../../context/catalog/catalog-files.ts';
import { bodySchemas, shortId, subjects, type Claim } from '../../context/claims/claim.ts';
import { artifactPath } from '../../context/merge/merge-dataset.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { shortHash } from '../../lib/hash.ts';
import { UserError } from '../../lib/error.ts';
import { emit } from '../../semantic/emit/emit.ts';
import { loadModel } from '../../semantic/load/load.ts';
import {
  columnIdentity,
  metricAddress,
  type ModelDataset,
  type ModelMetric,
  type SemanticModel,
} from '../../semantic/model/model.ts';
import { sampleParameters } from '../../semantic/model/parameters.ts';
import { createPlan, type Plan } from '../../semantic/plan/plan.ts';
import { querySchema } from '../../semantic/query/query.ts';
import { withAnalyzer } from '../../sql/analyzer.ts';
import { findDialect } from '../../sql/dialects.ts';
import type { State } from '../../store/state.ts';
import { blameClaim } from './blame-claim.ts';
import type { Quarantined } from '../report.ts';
import { readProjectFiles, isSameTree, type FileTree } from '../publish/project-files.ts';
import { finalTexts, type Rendering } from '../publish/publish.ts';
import type { ConnectionFindings, ProjectFindings } from '../fetch/findings.ts';
import type { IngestModel } from '../model.ts';
import { projectFolders, renderProject } from './render.ts';
import { repairClaims } from '../decide/repair-claims.ts';
import { replaceEntry } from './replace-entry.ts';

interface Validation {
  readonly state: State;
  /** Mends what does not pass; undefined where none is configured. */
  readonly model?: IngestModel | undefined;
  /** No call can succeed any more. */
  readonly isOver: boolean;
  readonly signal: AbortSignal;
}

/**
 * Checks the artifacts as they will stand: schema and references, columns against the catalog, every expression by a zero-row
 * query; `unchecked` are the warehouses that did not open for it. What fails a model may mend. Gives the files of one place as they shall be
 * without the claims that failed; those claims, and what of people's does not work (it stays in their files).
 */
export async function validateArtifacts(dir: string, found: ProjectFindings, run: Validation) {
  const files = await readProjectFiles(dir, projectFolders(found));
  const first = await check(found, files, run);
  const { rulings, mended, report } = run.model
    ? await repair(first, { ...run, model: run.model, found, files })
    : noRepair;
  const findings =
    rulings.length === 0
      ? found
      : { ...found, decisions: [...(found.decisions ?? []), ...rulings] };
  const { rendering, quarantined, unchecked, queries } =
    rulings.length === 0 ? first : await check(findings, files, run);
  const failed = new Set(quarantined.map(({ subject }) => subject));
  const placed = quarantined.map((fault) => placedInSource(fault, rendering));
  const render = (place: FileTree) =>
    failed.size === 0 && isSameTree(place, files)
      ? rendering
      : renderProject(findings, place, failed);
  return { files, render, quarantined: placed, unchecked, queries, mended, repaired: report };
}

/** What a source says is put right there: a file without it has no such line. What people wrote stays where it is. */
function placedInSource(fault: Quarantined, { claims, keptEdits }: Rendering): Quarantined {
  if (isTheirs(fault, keptEdits)) return fault;
  const said = claims.filter(
    ({ subject, kind }) => subject === fault.subject && kind === fault.kind,
  );
  const [first] = said
    .filter((claim) => fault.claim === undefined || shortId(claim) === fault.claim)
    .flatMap(({ evidence }) => evidence);
  const isOfSource =
    first?.item !== undefined && (first.origin === 'code' || first.origin === 'model');
  return isOfSource
    ? { ...fault, location: [first.item, first.location].filter(Boolean).join(' ') }
    : fault;
}

function isTheirs({ subject }: Quarantined, keptEdits: Rendering['keptEdits']): boolean {
  const { type = '', dataset = '', name = '' } = parseSubject(subject) ?? {};
  return keptEdits.some(
    ({ path }) => path.split('.').slice(0, 3).join('.') === `${dataset}.${type}s.${name}`,
  );
}

const noRepair: Pick<Awaited<ReturnType<typeof repairClaims>>, 'rulings' | 'mended' | 'report'> = {
  rulings: [],
  mended: [],
  report: undefined,
};

async function check(
  findings: ProjectFindings,
  files: FileTree,
  run: Pick<Validation, 'state' | 'signal'>,
) {
  const rendering = renderProject(findings, files);
  const view = new Map([...files, ...finalTexts(rendering.writes)]);
  const quarantined = [...rendering.quarantined];
  const unchecked: { readonly connection: string; readonly error: UserError }[] = [];
  const modelWithout = (faults: readonly Quarantined[], connection: string) => {
    const { writes } = renderProject(
      findings,
      files,
      new Set(faults.map(({ subject }) => subject)),
    );
    return modelIn(new Map([...files, ...finalTexts(writes)]), connection);
  };
  let queries = 0;
  for (const one of findings.connections) {
    const { connection, tables } = one.catalog;
    const model = modelIn(view, connection);
    const passed = passedCheck(
      run.state,
      connection,
      shortHash(JSON.stringify([tables, model]), 32),
    );
    if (passed.known) continue;
    try {
      const checked = await checkModel(one, model, { signal: run.signal });
      if (checked.faults.length === 0) passed.save();
      const faults = checked.faults.map((fault) =>
        blameClaim(fault, view.get(fault.subject), rendering.claims),
      );
      const broken = faults.filter((fault, index) => fault !== checked.faults[index]);
      // Of a file that cannot be loaded nothing was tried: the rest of it is, without what broke it.
      const rest =
        broken.length === 0
          ? undefined
          : await checkModel(one, modelWithout(broken, connection), { signal: run.signal });
      quarantined.push(...(rest === undefined ? faults : [...broken, ...rest.faults]));
      queries += checked.queries + (rest?.queries ?? 0);
    } catch (error) {
      if (!(error instanceof UserError) || run.signal.aborted) throw error;
      unchecked.push({ connection, error });
    }
  }
  return { rendering, view, quarantined, unchecked, queries };
}

/** The dataset files of a warehouse. */
function modelIn(view: ReadonlyMap<string, string | undefined>, connection: string): ProjectFile[] {
  const isModel = new RegExp(`^semantic-layer/${connection}/[^/.][^/]*\\.ya?ml$`);
  const model = [...view].flatMap(([path, text]) =>
    text !== undefined && isModel.test(path) ? [{ path, text }] : [],
  );
  return model.sort((a, b) => (a.path < b.path ? -1 : 1));
}

interface Repairing {
  readonly model: IngestModel;
  readonly isOver: boolean;
  readonly found: ProjectFindings;
  readonly files: FileTree;
  readonly signal: AbortSignal;
}

/** What people have in a file instead is not for a model to mend. */
async function repair(
  first: Awaited<ReturnType<typeof check>>,
  { model, isOver, found, files, signal }: Repairing,
) {
  const { rendering, view, quarantined } = first;
  return repairClaims({
    model,
    isOver,
    faults: quarantined.filter((fault) => !isTheirs(fault, rendering.keptEdits)),
    claims: rendering.claims,
    pins: parsePins(files.get(pinsPath)).pins,
    view: new Map([...view].flatMap(([path, text]) => (text === undefined ? [] : [[path, text]]))),
    async faultWith(ruled, mended) {
      const after = renderProject(
        { ...found, decisions: [...(found.decisions ?? []), ruled] },
        files,
      );
      const fault = after.quarantined.find(({ claim }) => claim === shortId(mended));
      const about = parseSubject(mended.subject);
      const own = found.connections.find(({ catalog }) => catalog.connection === about?.connection);
      if (fault !== undefined || own === undefined || about === undefined)
        return fault?.reason ?? 'its warehouse is not known';
      const at = artifactPath(about.connection, about.dataset);
      const datasets = modelIn(new Map([...files, ...finalTexts(after.writes)]), about.connection);
      const wanted = datasets.map((file) =>
        file.path === at ? { ...file, text: withClaim(file.text, about.name, mended) } : file,
      );
      const { faults } = await checkModel(own, wanted, { signal, only: mended.subject });
      return faults.find(({ subject }) => subject === mended.subject)?.reason;
    },
    signal,
  });
}

/** The file with what is claimed, whatever else is claimed of it. */
function withClaim(text: string, name: string, { kind, body }: Omit<Claim, 'evidence'>): string {
  const { data } =
    kind === 'metric'
      ? bodySchemas.metric.safeParse(body)
      : kind === 'field'
        ? bodySchemas.field.safeParse(body)
        : { data: undefined };
  return data === undefined
    ? text
    : replaceEntry(text, kind === 'metric' ? 'metrics' : 'fields', { ...data, name });
}

interface Checking {
  readonly signal: AbortSignal;
  /** One subject, where the others are no question. */
  readonly only?: string;
}

async function checkModel(
  { catalog, warehouse: open }: ConnectionFindings,
  files: readonly ProjectFile[],
  { signal, only }: Checking,
) {
  const { model, diagnostics } = await loadModel({
    dialect: findDialect(catalog.dialect),
    files,
    tables: catalog.tables,
  });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const unreadable = new Map(
    files.filter(({ text }) => !text.isWellFormed()).map(({ path, text }) => [path, text.slice(1)]),
  );
  const faults = errors.map(({ file, line, rule, message, hint }): Quarantined => {
    const reason = unreadable.get(file) ?? [message, hint].filter(Boolean).join('. ');
    return {
      subject: file,
      kind: unreadable.has(file) ? 'unreadable' : rule,
      reason,
      location: `${file}:${line}`,
    };
  });
  const all = [...model.datasets.values()].flatMap((dataset) => probesOf(catalog, dataset));
  const probes = all.filter(({ subject }) => only === undefined || subject === only);
  const warehouse = probes.length === 0 ? undefined : await open();
  for (const { query, ...probe } of probes) {
    try {
      const planned = await planProbe(model, query);
      const sql = emit({ ...planned, limit: 0 }, model.dialect);
      await warehouse?.query(sql, { maxRows: 1, timeoutMs: 30_000 }, signal);
    } catch (error) {
      if (!(error instanceof UserError) || signal.aborted) throw error;
      // What the planner cannot do yet is no fault of the model.
      if (error.code === 'not_supported') continue;
      const named = diagnostics.find(({ file, rule, message }) => {
        return (
          file === probe.location &&
          rule === 'unknown_name' &&
          error.message.includes(message.split(' ').at(-1) ?? message)
        );
      });
      const location = named === undefined ? probe.location : `${named.file}:${named.line}`;
      faults.push({
        ...probe,
        location,
        reason: [error.message, ...(named?.hint === undefined ? [] : [named.hint])].join('. '),
        ...(error.retryable && { isPassing: true }),
      });
    }
  }
  return { faults, queries: probes.length };
}

/** What is not simply a column of the catalog, each as a query; the count of rows needs no proof. */
function probesOf({ connection, tables, firstSchema }: Catalog, dataset: ModelDataset) {
  const { name: own, file: location, relation } = dataset;
  const [table, schema = firstSchema] =
    relation.kind === 'table' ? relation.parts.map((part) => part.toLowerCase()).toReversed() : [];
  const known = tables.find(
    (one) => one.table.toLowerCase() === table && one.schema.toLowerCase() === schema.toLowerCase(),
  );
  const columns = new Set(known?.columns.map(({ name }) => name.toLowerCase()));
  const isPlain = ({ name }: { name: string }) =>
    columns.has(columnIdentity(dataset, name).toLowerCase());
  const fields = [...dataset.fields.values()].filter(({ hidden }) => !hidden);
  const shown = fields.find(isPlain) ?? fields[0];
  const isRowCount = ({ definition, where }: ModelMetric) =>
    definition.kind === 'aggregate' &&
    definition.function === 'count' &&
    definition.of === undefined &&
    where === undefined;
  const metrics = [...dataset.metrics.values()].filter(
    (metric) => !metric.hidden && !isRowCount(metric),
  );
  const dimension = (name: string) => [`${own}.${name}`];
  return [
    ...fields
      .filter((field) => !isPlain(field))
      .map(({ name }) => ({
        subject: subjects.field(connection, own, name),
        kind: 'field',
        location,
        query: { dimensions: dimension(name) },
      })),
    ...metrics.map((metric) => ({
      subject: subjects.metric(connection, own, metric.name),
      kind: 'metric',
      location,
      query: { metrics: [metricAddress(metric)] },
    })),
    ...(shown ? [...dataset.segments.keys()] : []).map((name) => ({
      subject: `segment:${connection}.${own}.${name}`,
      kind: 'segment',
      location,
      query: { dimensions: dimension(shown?.name ?? own), segments: dimension(name) },
    })),
  ];
}

/** Remembers which state of catalog and files passed last, so that an unchanged project is not checked again. */
function passedCheck({ db }: State, connection: string, mark: string) {
  db.exec(
    'CREATE TABLE IF NOT EXISTS passed_checks (connection TEXT PRIMARY KEY, mark TEXT NOT NULL)',
  );
  const known =
    db.prepare('SELECT mark FROM passed_checks WHERE connection = ?').get(connection)?.['mark'] ===
    mark;
  return {
    known,
    save: () =>
      db.prepare('INSERT OR REPLACE INTO passed_checks VALUES (?, ?)').run(connection, mark),
  };
}

/** A running total or an offset is asked for by a period: that of months says as much about its formula as any. */
export async function planProbe(model: SemanticModel, query: object): Promise<Plan> {
  const planBy = (further: object) =>
    withAnalyzer(() =>
      createPlan(
        model,
        querySchema.parse({ parameters: sampleParameters(model), ...query, ...further }),
      ),
    );
  try {
    return await planBy({});
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'no_period') throw error;
    return planBy({ dimensions: ['metric_time.month'] });
  }
}
