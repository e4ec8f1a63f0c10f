import type { ProjectFile } from '../../context/catalog/catalog-files.ts';
import { bodySchemas, shortId, type Claim } from '../../context/claims/claim.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { artifactPath } from '../../context/merge/merge-dataset.ts';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import type { State } from '../../store/state.ts';
import type { ConnectionFindings, ProjectFindings } from '../fetch/findings.ts';
import type { IngestModel } from '../model.ts';
import type { FileTree } from '../publish/project-files.ts';
import { applyWrites, type Rendering } from '../publish/rendering.ts';
import type { Mended, Quarantined, StageReport } from '../report.ts';
import { repairClaims } from '../decide/repair-claims.ts';
import { blameClaim } from './blame-claim.ts';
import { checkModel, type ModelCheck } from './check-model.ts';
import { listQueryProbes, type ModelProbe } from './probes.ts';
import { listRecorded, listUntriedNews } from './hold-back.ts';
import { openPassedCheck, type PassedProbes } from './passed-probes.ts';
import { renderProject } from './render.ts';
import { replaceEntry } from './replace-entry.ts';

interface ValidationContext {
  readonly state: State;
  /** The text of `ktx.yaml`. */
  readonly configuration: string;
  /** Repairs claims that fail; undefined if none is configured. */
  readonly model?: IngestModel | undefined;
  /** True if no model call can succeed any more. */
  readonly isOver: boolean;
  readonly signal: AbortSignal;
}

export interface Validation {
  /** The decisions of a model that repair claims; see `addDecisions`. */
  readonly repairs: readonly Claim[];
  /** Subjects whose changed definitions wait; see `withRecordedDefinitions`. */
  readonly waiting: ReadonlySet<string>;
  /** Subjects that fail the check: render without them. */
  readonly failed: ReadonlySet<string>;
  /** The claims that fail, and what people wrote that does not work (it stays in their files). */
  readonly quarantined: readonly Quarantined[];
  /** Warehouses that could not be opened for the check. */
  readonly unopened: readonly UnopenedWarehouse[];
  /** Statements sent to warehouses. */
  readonly queries: number;
  readonly mended: readonly Mended[];
  readonly repairReport: StageReport | undefined;
}

interface UnopenedWarehouse {
  readonly connection: string;
  readonly error: UserError;
}

/**
 * Checks the artifacts as they would be published: schema and references, columns against the
 * catalog, every expression with a query for zero rows. A model may repair what fails. `files` are
 * the files on disk.
 */
export async function validateArtifacts(
  found: ProjectFindings,
  files: FileTree,
  context: ValidationContext,
): Promise<Validation> {
  const first = await checkRendering(found, files, context);
  const { decisions: repairs, mended, report } = await repairFaults(found, first, context);
  const { rendering, quarantined, untried, unopened, queries } =
    repairs.length === 0
      ? first
      : await checkRendering(addDecisions(found, repairs), files, context);
  const waiting = listRecorded(new Set(untried.map(({ subject }) => subject)), files);
  const faults = [...quarantined, ...untried];
  return {
    repairs,
    waiting,
    // What a person broke in their file is no fault of the claim: what is committed stays.
    failed: new Set(
      faults
        .filter((fault) => !waiting.has(fault.subject))
        .filter((fault) => !isPersonsFormula(fault, rendering))
        .map(({ subject }) => subject),
    ),
    quarantined: faults.map((fault) => locateInSource(fault, rendering)),
    unopened,
    queries,
    mended,
    repairReport: report,
  };
}

/** The findings with more decisions of models; the same object if there are none. */
export function addDecisions(
  findings: ProjectFindings,
  decisions: readonly Claim[],
): ProjectFindings {
  return decisions.length === 0
    ? findings
    : { ...findings, decisions: [...(findings.decisions ?? []), ...decisions] };
}

interface CheckedRendering extends Pick<Validation, 'quarantined' | 'unopened' | 'queries'> {
  readonly rendering: Rendering;
  /** What is new and nobody could try. */
  readonly untried: readonly Quarantined[];
  /** The files that were checked: those on disk with the writes of the rendering. */
  readonly before: FileTree;
  readonly after: FileTree;
}

async function checkRendering(
  findings: ProjectFindings,
  files: FileTree,
  { state, configuration, signal }: ValidationContext,
): Promise<CheckedRendering> {
  const rendering = renderProject(findings, files);
  const after = applyWrites(files, rendering.writes);
  const quarantined = [...rendering.quarantined];
  const unopened: UnopenedWarehouse[] = [];
  const untried: Quarantined[] = [];
  let queries = 0;
  for (const connection of findings.connections) {
    const { catalog } = connection;
    const model = datasetFiles(after, catalog.connection);
    const saved = listQueryProbes(catalog.connection, rendering.claims);
    const mark = sha256(JSON.stringify(saved.length === 0 ? model : [model, saved]));
    const passed = openPassedCheck(state, { catalog, configuration });
    if (passed.hasPassed(mark)) continue;
    const { probes } = passed;
    const shared = { findings, files, rendering, after, connection, signal };
    const checking = { ...shared, passed: probes, queries: saved };
    const checked = await checkConnection(model, checking);
    const { faults, unopened: missed } = checked;
    passed.save(faults.length === 0 && missed === undefined ? mark : undefined);
    quarantined.push(...faults);
    queries += checked.queries;
    const { connection: name } = catalog;
    if (missed !== undefined) unopened.push({ connection: name, error: missed.error });
    untried.push(...(await listUntriedNews(connection, checked, datasetFiles(files, name))));
  }
  return { rendering, before: files, after, quarantined, untried, unopened, queries };
}

interface ConnectionCheck {
  readonly findings: ProjectFindings;
  readonly files: FileTree;
  readonly rendering: Rendering;
  readonly after: FileTree;
  readonly connection: ConnectionFindings;
  readonly passed: PassedProbes;
  readonly queries: readonly ModelProbe[];
  readonly signal: AbortSignal;
}

/** Checks the dataset files of one warehouse. */
async function checkConnection(
  model: readonly ProjectFile[],
  { findings, files, rendering, after, connection, passed, queries, signal }: ConnectionCheck,
): Promise<ModelCheck> {
  const checked = await checkModel(connection, model, { passed, queries, signal });
  const faults = checked.faults.map((fault) =>
    blameClaim(fault, after.get(fault.subject), rendering.claims),
  );
  const blamed = faults.filter((fault, index) => fault !== checked.faults[index]);
  if (blamed.length === 0) return { ...checked, faults };
  // Nothing was tried in a file that does not load. So its other entries are tried without the ones
  // that break it.
  const broken = new Set(blamed.map(({ subject }) => subject));
  const withoutBroken = applyWrites(files, renderProject(findings, files, broken).writes);
  const rest = await checkModel(
    connection,
    datasetFiles(withoutBroken, connection.catalog.connection),
    { passed, queries, signal },
  );
  return {
    ...rest,
    faults: [...blamed, ...rest.faults],
    queries: checked.queries + rest.queries,
  };
}

const noRepair: Awaited<ReturnType<typeof repairClaims>> = {
  decisions: [],
  mended: [],
  report: undefined,
};

/** Lets a model repair the claims that fail. What people wrote in a file is not repaired. */
async function repairFaults(
  found: ProjectFindings,
  { rendering, before, after, quarantined }: CheckedRendering,
  { model, isOver, signal }: ValidationContext,
) {
  if (model === undefined) return noRepair;
  return repairClaims({
    model,
    isOver,
    faults: quarantined.filter((fault) => !isPersonsEdit(fault, rendering)),
    claims: rendering.claims,
    pins: parsePins(before.get(pinsPath)).pins,
    view: after,
    faultWith: (decision, repaired) =>
      findRepairFault(addDecisions(found, [decision]), repaired, { files: before, signal }),
    signal,
  });
}

/**
 * Why a repaired claim does not work, with the decision that repairs it in the findings; undefined
 * if it works.
 */
async function findRepairFault(
  findings: ProjectFindings,
  repaired: Omit<Claim, 'evidence'>,
  { files, signal }: { readonly files: FileTree; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const rendering = renderProject(findings, files);
  const fault = rendering.quarantined.find(({ claim }) => claim === shortId(repaired));
  const subject = parseSubject(repaired.subject);
  const connection = findings.connections.find(
    ({ catalog }) => catalog.connection === subject?.connection,
  );
  if (fault !== undefined || connection === undefined || subject === undefined)
    return fault?.reason ?? 'its warehouse is not known';
  const path = artifactPath(subject.connection, subject.dataset);
  const model = datasetFiles(applyWrites(files, rendering.writes), subject.connection).map((file) =>
    file.path === path ? { ...file, text: insertClaim(file.text, subject.name, repaired) } : file,
  );
  const { faults } = await checkModel(connection, model, { signal, only: repaired.subject });
  return faults.find((candidate) => candidate.subject === repaired.subject)?.reason;
}

/** The dataset file with a metric or field as claimed, whatever other claims say about it. */
function insertClaim(text: string, name: string, { kind, body }: Omit<Claim, 'evidence'>): string {
  if (kind === 'metric') {
    const { data } = bodySchemas.metric.safeParse(body);
    return data === undefined ? text : replaceEntry(text, 'metrics', { ...data, name });
  }
  if (kind === 'field') {
    const { data } = bodySchemas.field.safeParse(body);
    return data === undefined ? text : replaceEntry(text, 'fields', { ...data, name });
  }
  return text;
}

/**
 * The fault with the location in the source, where it is fixed. A fault in what a person wrote
 * keeps its place in the file.
 */
function locateInSource(fault: Quarantined, rendering: Rendering): Quarantined {
  if (isPersonsEdit(fault, rendering)) return fault;
  const [first] = rendering.claims
    .filter(({ subject, kind }) => subject === fault.subject && kind === fault.kind)
    .filter((claim) => fault.claim === undefined || shortId(claim) === fault.claim)
    .flatMap(({ evidence }) => evidence);
  const isFromSource =
    first?.item !== undefined && (first.origin === 'code' || first.origin === 'model');
  return isFromSource
    ? { ...fault, location: [first.item, first.location].filter(Boolean).join(' ') }
    : fault;
}

/** True if a person wrote or changed the entry in its file. */
function isPersonsEdit(
  { subject }: Quarantined,
  { keptEdits }: Pick<Rendering, 'keptEdits'>,
  isMeant: (property: string) => boolean = () => true,
): boolean {
  const { type = '', dataset = '', name = '' } = parseSubject(subject) ?? {};
  const entryPath = `${dataset}.${type}s.${name}`;
  return keptEdits.some(({ path, isRemoval }) => {
    const parts = path.split('.');
    return !isRemoval && parts.slice(0, 3).join('.') === entryPath && isMeant(parts[3] ?? '');
  });
}

/** Nothing is computed from these properties of an entry. */
const words: ReadonlySet<string> = new Set([
  'description',
  'label',
  'synonyms',
  'unit',
  'owner',
  'tags',
  'hidden',
  'unreviewed',
  'meta',
]);

/** True if a person wrote or changed how the entry is computed. */
function isPersonsFormula(fault: Quarantined, rendering: Pick<Rendering, 'keptEdits'>): boolean {
  return isPersonsEdit(fault, rendering, (property) => !words.has(property));
}

/** The dataset files of a warehouse, sorted by path. */
export function datasetFiles(files: FileTree, connection: string): ProjectFile[] {
  const isDatasetFile = new RegExp(`^semantic-layer/${connection}/[^/.][^/]*\\.ya?ml$`);
  return [...files]
    .filter(([path]) => isDatasetFile.test(path))
    .map(([path, text]) => ({ path, text }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
