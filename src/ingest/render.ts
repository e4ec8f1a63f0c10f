import type { Catalog } from '../context/catalog.ts';
import { catalogFiles } from '../context/catalog-files.ts';
import type { Claim } from '../context/claim.ts';
import { claimsPath, eitherBase, parseClaims, renderClaims, type ClaimsFile } from '../context/claims-file.ts';
import { compile } from '../context/compile.ts';
import { leavesOf, outline } from '../context/leaves.ts';
import { artifactPath, mergeDataset, parseArtifact, removedDataset, removedPath } from '../context/merge.ts';
import { subjectParts } from '../context/subject.ts';
import { shortHash } from '../lib/hash.ts';
import { canonicalJson } from '../lib/json.ts';
import type { Warehouse } from '../warehouse/warehouse.ts';
import type { KeptEdit } from './event.ts';
import type { FileView } from './project-files.ts';
import type { FileTarget, Rendering } from './publish.ts';

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

/** The files of one place as they shall be, from what was found and what people wrote there. Pure. */
export function renderProject(findings: readonly ConnectionFindings[], view: FileView): Rendering {
  const connections = findings.map((one) => renderConnection(one, view));
  const datasets = connections.flatMap(({ merged }) => merged);
  return {
    generated: [...gitAttributes(view), ...findings.flatMap(({ catalog }) => catalogTargets(catalog, view))],
    datasets: datasets.filter(({ result }) => result.outcome !== 'left_alone').map(({ target }) => target),
    leftAlone: datasets.flatMap(({ at, result: { outcome, reason = '' } }) => (outcome === 'left_alone' ? [{ path: at, reason }] : [])),
    keptEdits: datasets.flatMap(keptEdits),
    stale: datasets.flatMap(({ at, dataset, result }) => result.stale.map((path) => ({ path: `${dataset}.${path}`, at }))),
    quarantined: connections.flatMap(({ quarantined }) => quarantined),
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
  const wanted = catalogFiles(catalog).toReversed();
  const isOld = (path: string) => path.startsWith(`sources/${catalog.connection}/`) && path.endsWith('.jsonl');
  const gone = [...view.keys()].filter((path) => isOld(path) && !wanted.some((file) => file.path === path));
  return [...wanted, ...gone.map((path) => ({ path, text: undefined }))];
}

function renderConnection({ catalog: { connection }, claims }: ConnectionFindings, view: FileView) {
  const files = claimsFiles(connection, view);
  // Of the edits only these: a removal that a file has recorded no longer holds once the file is back.
  const removed = [...files].flatMap(([dataset, { base }]) => {
    return removedDataset({ connection, dataset, base, text: view.get(artifactPath(connection, dataset)) }) ?? [];
  });
  const { artifacts, quarantined } = compile(claims, [], removed);
  const compiled = new Map(artifacts.map(({ dataset, value }) => [dataset, value]));
  const byDataset = Map.groupBy(claims, ({ subject }) => subjectParts(subject)?.dataset ?? '');
  const merged = [...new Set([...compiled.keys(), ...files.keys(), ...byDataset.keys()])].sort().map((dataset) => {
    const file = files.get(dataset) ?? { base: new Map(), claims: [], damaged: [] };
    const at = artifactPath(connection, dataset);
    const stands = { text: view.get(at), base: file.base, edits: file.claims.filter(({ kind }) => kind === 'edit') };
    const result = mergeDataset({ connection, dataset, compiled: compiled.get(dataset), ...stands });
    const now = { base: result.base, claims: [...(byDataset.get(dataset) ?? []), ...result.edits], damaged: file.damaged };
    const target = {
      artifact: { path: at, text: result.text },
      claims: { path: claimsPath(connection, dataset), text: renderClaims(now) },
      interim: result.text === stands.text ? undefined : renderClaims({ ...file, base: eitherBase(file.base, result.base) }),
    };
    return { dataset, at, result, target, compiled: compiled.get(dataset) };
  });
  const damaged = [...files.values()].flatMap((file) => file.damaged);
  return {
    merged,
    quarantined: [
      ...quarantined.map(({ claim: { subject, kind }, reason }) => ({ subject, kind, reason })),
      ...damaged.map(({ path, line, reason }) => ({ subject: path, kind: 'line', reason, location: `${path}:${line}` })),
    ],
  };
}

/** What people changed, and what they took out that ktx would have there. */
function keptEdits({ dataset, at, result, compiled }: ReturnType<typeof renderConnection>['merged'][number]): KeptEdit[] {
  const { kept, edits, text = '' } = result;
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

function claimsFiles(connection: string, view: FileView): Map<string, ClaimsFile> {
  const prefix = `claims/${connection}/`;
  const found = [...view].filter(([path]) => path.startsWith(prefix) && path.endsWith('.jsonl'));
  return new Map(found.map(([path, text]) => [path.slice(prefix.length, -'.jsonl'.length), parseClaims(path, text)]));
}
