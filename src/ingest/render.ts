import type { Catalog } from '../context/catalog.ts';
import { catalogFiles } from '../context/catalog-files.ts';
import type { Claim } from '../context/claim.ts';
import { claimsPath, eitherBase, parseClaims, renderClaims, type ClaimsFile } from '../context/claims-file.ts';
import { compile, type Compilation } from '../context/compile.ts';
import { artifactPath, mergeDataset, removedDataset } from '../context/merge.ts';
import { subjectParts } from '../context/subject.ts';
import type { Warehouse } from '../warehouse/warehouse.ts';
import type { Quarantined } from './event.ts';
import type { FileView } from './project-files.ts';
import type { DatasetTarget, FileTarget, Rendering } from './publish.ts';

/** What a run learned of one warehouse. */
export interface ConnectionFindings {
  readonly catalog: Catalog;
  readonly claims: readonly Claim[];
  readonly warehouse: Warehouse;
}

const attributesFile = '.gitattributes';
/** Reviews fold generated files; `-text` and `-filter` keep their bytes as they are, whatever the repository does to its own. */
const attributes = ['claims/** linguist-generated -text -filter', 'sources/** linguist-generated -text -filter'];

/** Everything that an ingest of these connections may read and write in a project. */
export function foldersOf(connections: readonly string[]): string[] {
  return [attributesFile, ...connections.flatMap((name) => [`sources/${name}`, `semantic-layer/${name}`, `claims/${name}`])];
}

/** The files of one place as they shall be, from what was found and what people wrote there. Pure. */
export function renderProject(findings: readonly ConnectionFindings[], view: FileView): Rendering {
  const parts = findings.map((one) => renderConnection(one, view));
  return {
    generated: [...gitAttributes(view), ...findings.flatMap(({ catalog }) => catalogTargets(catalog, view))],
    datasets: parts.flatMap(({ datasets }) => datasets),
    leftAlone: parts.flatMap(({ leftAlone }) => leftAlone),
    keptEdits: parts.flatMap(({ keptEdits }) => keptEdits),
    stale: parts.flatMap(({ stale }) => stale),
    quarantined: parts.flatMap(({ quarantined }) => quarantined),
  };
}

/** Only with the first claims of a place: a line that a person takes out later stays out. */
function gitAttributes(view: FileView): FileTarget[] {
  if ([...view.keys()].some((path) => path.startsWith('claims/'))) return [];
  const text = view.get(attributesFile) ?? '';
  const missing = attributes.filter((line) => !text.split(/\r?\n/).includes(line));
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return missing.length === 0 ? [] : [{ path: attributesFile, text: `${start}${missing.join('\n')}\n` }];
}

/** Schema files before the index that lists them, what is gone after it: at no moment does the index name a missing file. */
function catalogTargets(catalog: Catalog, view: FileView): FileTarget[] {
  const [index, ...schemas] = catalogFiles(catalog);
  const wanted = [...schemas, ...(index === undefined ? [] : [index])];
  const paths = new Set(wanted.map(({ path }) => path));
  const gone = [...view.keys()].filter(
    (path) => path.startsWith(`sources/${catalog.connection}/`) && path.endsWith('.jsonl') && !paths.has(path),
  );
  return [...wanted, ...gone.map((path) => ({ path, text: undefined }))];
}

function renderConnection({ catalog: { connection }, claims }: ConnectionFindings, view: FileView) {
  const files = claimsFiles(connection, view);
  const standing = [...files].map(([dataset, { base }]) => ({
    connection,
    dataset,
    base,
    text: view.get(artifactPath(connection, dataset)),
  }));
  const edits = [...[...files.values()].flatMap(editsOf), ...standing.flatMap((one) => removedDataset(one) ?? [])];
  const known = [...claims, ...[...files.values()].flatMap((file) => claimsOfOthers(file, connection))];
  const compilation = compile(known, [], edits);
  const byDataset = Map.groupBy(known, ({ subject }) => subjectParts(subject)?.dataset ?? '');
  const compiled = new Map(compilation.artifacts.map((artifact) => [artifact.dataset, artifact.value]));
  const datasets = [...new Set([...compiled.keys(), ...files.keys(), ...byDataset.keys()])].sort();
  const merged = datasets.map((dataset) => {
    const file = files.get(dataset) ?? { base: new Map(), claims: [], damaged: [] };
    const text = view.get(artifactPath(connection, dataset));
    const result = mergeDataset({ connection, dataset, compiled: compiled.get(dataset), text, base: file.base, edits: editsOf(file) });
    return { dataset, file, text, result, claims: byDataset.get(dataset) ?? [], at: artifactPath(connection, dataset) };
  });
  const paths = (list: 'kept' | 'stale') =>
    merged.flatMap(({ dataset, result, at }) => result[list].map((path) => ({ path: `${dataset}.${path}`, at })));
  return {
    datasets: merged.flatMap(({ result, ...one }) => (result.outcome === 'left_alone' ? [] : targetOf(connection, { ...one, ...result }))),
    leftAlone: merged.flatMap(({ result, at, dataset }) =>
      result.outcome === 'left_alone' ? [{ path: at, claims: claimsPath(connection, dataset), reason: result.reason ?? '' }] : [],
    ),
    keptEdits: paths('kept'),
    stale: paths('stale'),
    quarantined: quarantinedOf(compilation, [...files.values()]),
  };
}

interface MergedDataset {
  readonly dataset: string;
  readonly file: ClaimsFile;
  readonly text: string | undefined;
  readonly base: ClaimsFile['base'];
  readonly claims: readonly Claim[];
  readonly edits: readonly Claim[];
}

function targetOf(connection: string, { dataset, file, text, base, claims, edits }: MergedDataset): DatasetTarget {
  const path = claimsPath(connection, dataset);
  return {
    artifact: { path: artifactPath(connection, dataset), text },
    claims: { path, text: renderClaims({ base, claims: [...claims, ...edits], damaged: file.damaged }) },
    interim: renderClaims({ ...file, base: eitherBase(file.base, base) }),
  };
}

function claimsFiles(connection: string, view: FileView): Map<string, ClaimsFile> {
  const prefix = `claims/${connection}/`;
  const found = [...view].filter(([path]) => path.startsWith(prefix) && path.endsWith('.jsonl'));
  return new Map(found.map(([path, text]) => [path.slice(prefix.length, -'.jsonl'.length), parseClaims(path, text)]));
}

function editsOf({ claims }: ClaimsFile): Claim[] {
  return claims.filter(({ kind }) => kind === 'edit');
}

/** What other connections say stays until they are ingested themselves. */
function claimsOfOthers({ claims }: ClaimsFile, connection: string): Claim[] {
  return claims
    .filter(({ kind }) => kind !== 'edit')
    .map((claim) => ({ ...claim, evidence: claim.evidence.filter((one) => one.connection !== connection) }))
    .filter(({ evidence }) => evidence.length > 0);
}

function quarantinedOf({ quarantined }: Compilation, files: readonly ClaimsFile[]): Quarantined[] {
  const lines = files.flatMap(({ damaged }) => damaged);
  return [
    ...quarantined.map(({ claim: { subject, kind }, reason }) => ({ subject, kind, reason })),
    ...lines.map(({ path, line, reason }) => ({ subject: path, kind: 'line', reason, location: `${path}:${line}` })),
  ];
}
