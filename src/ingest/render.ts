import type { Catalog } from '../context/catalog.ts';
import { catalogFiles } from '../context/catalog-files.ts';
import { subjects, type Claim } from '../context/claim.ts';
import { claimsPath, eitherBase, parseClaims, renderClaims, type ClaimsFile } from '../context/claims-file.ts';
import { compile } from '../context/compile.ts';
import { leavesOf, outline } from '../context/leaves.ts';
import { artifactPath, isDeleted, mergeDataset, parseArtifact, removedPath } from '../context/merge.ts';
import { subjectParts, type Owner } from '../context/subject.ts';
import { shortHash } from '../lib/hash.ts';
import { canonicalJson } from '../lib/json.ts';
import type { Dataset } from '../semantic/dataset.ts';
import type { Warehouse } from '../warehouse/warehouse.ts';
import type { KeptEdit } from './event.ts';
import type { FileView } from './project-files.ts';
import type { Rendering, Write } from './publish.ts';

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
  const own = (name: string) => [`sources/${name}`, `semantic-layer/${name}`, `claims/${name}`];
  return [attributesFile, ...connections.flatMap(own)];
}

/** The files of one place as they shall be, from what was found and what people wrote there; without the subjects that failed. Pure. */
export function renderProject(findings: readonly ConnectionFindings[], view: FileView, failed: ReadonlySet<string> = new Set()): Rendering {
  const connections = findings.map((one) => renderConnection(one, view, failed));
  const datasets = connections.flatMap((one) => one.datasets);
  const catalogs = findings.flatMap(({ catalog }) => catalogWrites(catalog, view));
  return {
    writes: [...gitAttributes(view), ...catalogs, ...datasets.flatMap(({ writes }) => writes)],
    leftAlone: datasets.flatMap(({ at, result: { reason } }) => (reason === undefined ? [] : [{ path: at, reason }])),
    keptEdits: datasets.flatMap(keptEdits),
    stale: datasets.flatMap(({ at, dataset, result }) => result.stale.map((path) => ({ path: `${dataset}.${path}`, at }))),
    quarantined: connections.flatMap(({ quarantined }) => quarantined),
  };
}

/** Only with the first claims of a place: a line that a person takes out later stays out. */
function gitAttributes(view: FileView): Write[] {
  if ([...view.keys()].some((path) => path.startsWith('claims/'))) return [];
  const text = view.get(attributesFile) ?? '';
  const missing = attributes.filter((line) => !text.split(/\r?\n/).includes(line));
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return missing.length === 0 ? [] : [{ step: 'file_written', path: attributesFile, text: `${start}${missing.join('\n')}\n` }];
}

/** Schema files before the index that lists them, what is gone after it: at no moment does the index name a missing file. */
function catalogWrites(catalog: Catalog, view: FileView): Write[] {
  const wanted = new Map<string, string | undefined>(catalogFiles(catalog).toReversed().map(({ path, text }) => [path, text])); // prettier-ignore
  const old = [...view.keys()].filter((path) => path.startsWith(`sources/${catalog.connection}/`) && !wanted.has(path));
  for (const path of old) wanted.set(path, undefined);
  return [...wanted].map(([path, text]) => ({ step: 'file_written', path, text }));
}

function renderConnection({ catalog: { connection }, claims }: ConnectionFindings, view: FileView, failed: ReadonlySet<string>) {
  const prefix = `claims/${connection}/`;
  const recorded = [...view.keys()].filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length, -'.jsonl'.length));
  // Of what the files record, compiling needs only what people did.
  const touched = recorded.flatMap((dataset) => {
    const { claimsAt, text, lines = '' } = standing({ connection, dataset }, view);
    return text === undefined || lines.includes('"origin":"person"') ? [{ dataset, text, ...parseClaims(claimsAt, lines) }] : [];
  });
  const isSound = ({ subject }: Claim) => !failed.has(subject);
  const deleted = new Set(touched.filter(isDeleted).map(({ dataset }) => subjects.dataset(connection, dataset)));
  const told = touched.flatMap((file) => file.claims.filter(isTold));
  const { artifacts, quarantined } = compile([...claims, ...told].filter(isSound), deleted);
  const compiled = new Map(artifacts.map((one) => [one.dataset, one]));
  const byDataset = Map.groupBy(claims.filter(isSound), ({ subject }) => subjectParts(subject)?.dataset ?? '');
  const names = new Set([...compiled.keys(), ...recorded, ...byDataset.keys()]);
  const datasets = [...names].sort().map((dataset) => {
    return renderDataset({ connection, dataset, compiled: compiled.get(dataset) }, byDataset.get(dataset) ?? [], view);
  });
  const damaged = datasets.flatMap((one) => one.damaged);
  return {
    datasets,
    quarantined: [
      ...quarantined.map(({ claim: { subject, kind }, reason }) => ({ subject, kind, reason })),
      ...damaged.map(({ path, line, reason }) => ({ subject: path, kind: 'line', reason, location: `${path}:${line}` })),
    ],
  };
}

/** The dataset's own file and that of its claims. */
function standing({ connection, dataset }: Owner, view: FileView) {
  const [at, claimsAt] = [artifactPath(connection, dataset), claimsPath(connection, dataset)];
  return { at, claimsAt, text: view.get(at), lines: view.get(claimsAt) };
}

function renderDataset(about: Owner & { readonly compiled: Dataset | undefined }, claims: readonly Claim[], view: FileView) {
  const { at, claimsAt, text, lines } = standing(about, view);
  const fresh = mergeDataset({ ...about, text: undefined, base: new Map(), edits: [] });
  // Byte for byte as ktx writes it anew: then nothing of a person's can be in it, and nothing has to be parsed.
  const isAsWritten = text === fresh.text && lines === renderClaims({ ...nothingRecorded, base: fresh.base, claims });
  if (isAsWritten) return { ...about, at, result: fresh, writes: [], damaged: [] };
  const file = parseClaims(claimsAt, lines ?? '');
  const edits = file.claims.filter(({ kind }) => kind === 'edit');
  const result = mergeDataset({ ...about, text, base: file.base, edits });
  const now = { ...file, base: result.base, claims: [...claims, ...file.claims.filter(isTold), ...result.edits] };
  const interim = renderClaims({ ...file, base: eitherBase(file.base, result.base) });
  const writes: Write[] = [
    { step: 'base_recorded', path: claimsAt, text: interim, artifact: at },
    { step: 'file_written', path: at, text: result.text, artifact: at },
    { step: 'claims_written', path: claimsAt, text: renderClaims(now), artifact: at },
  ];
  const isDue = { left_alone: [], unchanged: writes.slice(2), written: writes, deleted: writes };
  return { ...about, at, result, writes: isDue[result.outcome], damaged: file.damaged };
}

const nothingRecorded: ClaimsFile = { base: new Map(), claims: [], damaged: [] };

/** What a person claims in so many words; an `edit` only says what they took out of a file. */
function isTold({ kind, evidence }: Claim): boolean {
  return kind !== 'edit' && evidence.some(({ origin }) => origin === 'person');
}

/** What people changed, and what they took out that ktx would have there. */
function keptEdits({ dataset, at, result, compiled }: ReturnType<typeof renderDataset>): KeptEdit[] {
  const { kept, edits, text = '' } = result;
  if (kept.length + edits.length === 0) return [];
  const file = kept.length === 0 ? { reason: 'not needed' } : parseArtifact(text);
  const sides = [outline('mapping' in file ? file.mapping : {}), outline(compiled ?? {})].map((side) => [...leavesOf(side)]);
  const valuesAt = (path: string) => sides.map((side) => side.filter(([one]) => one === path || one.startsWith(`${path}.`)));
  const edit = (path: string, isRemoval: boolean): KeptEdit => {
    const mark = shortHash(canonicalJson([at, path, isRemoval, valuesAt(path)]), 16);
    return { path: path === '' ? dataset : `${dataset}.${path}`, at, isRemoval, mark };
  };
  const removed = edits.map(removedPath).filter((path) => path === '' || valuesAt(path).some((values) => values.length > 0));
  return [...[...new Set(kept)].map((path) => edit(path, false)), ...removed.map((path) => edit(path, true))];
}
