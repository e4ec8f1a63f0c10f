import type { Catalog } from '../context/catalog.ts';
import { catalogFiles } from '../context/catalog-files.ts';
import { subjects, type Claim } from '../context/claim.ts';
import { claimsPath, eitherBase, parseClaims, renderClaims, type ClaimsFile } from '../context/claims-file.ts';
import { compile } from '../context/compile.ts';
import { leavesOf, outline } from '../context/leaves.ts';
import { artifactPath, isDeleted, mergeDataset, parseArtifact, removedPath } from '../context/merge.ts';
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

/** The files of one place as they shall be, from what was found and what people wrote there; without the subjects that failed. Pure. */
export function renderProject(findings: readonly ConnectionFindings[], view: FileView, failed: ReadonlySet<string> = new Set()): Rendering {
  const connections = findings.map((one) => renderConnection(one, view, failed));
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

function renderConnection({ catalog: { connection }, claims }: ConnectionFindings, view: FileView, failed: ReadonlySet<string>) {
  const prefix = `claims/${connection}/`;
  const recorded = [...view.keys()].filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length, -'.jsonl'.length));
  const placeOf = (dataset: string) => {
    const [at, claimsAt] = [artifactPath(connection, dataset), claimsPath(connection, dataset)];
    return { at, claimsAt, text: view.get(at), lines: view.get(claimsAt) };
  };
  // Of what the files record, compiling needs only what people did.
  const peoples = recorded.flatMap((dataset) => {
    const { claimsAt, text, lines = '' } = placeOf(dataset);
    if (text !== undefined && !lines.includes('"origin":"person"')) return [];
    const file = parseClaims(claimsAt, lines);
    return [
      { subject: subjects.dataset(connection, dataset), told: file.claims.filter(isTold), isGone: isDeleted({ text, base: file.base }) },
    ];
  });
  const sound = claims.filter(({ subject }) => !failed.has(subject));
  const told = peoples.flatMap((one) => one.told).filter(({ subject }) => !failed.has(subject));
  const deleted = new Set(peoples.filter(({ isGone }) => isGone).map(({ subject }) => subject));
  const { artifacts, quarantined } = compile([...sound, ...told], deleted);
  const compiled = new Map(artifacts.map(({ dataset, value }) => [dataset, value]));
  const byDataset = Map.groupBy(sound, ({ subject }) => subjectParts(subject)?.dataset ?? '');
  const merged = [...new Set([...compiled.keys(), ...recorded, ...byDataset.keys()])].sort().map((dataset) => {
    const { at, claimsAt, text, lines } = placeOf(dataset);
    const about = { connection, dataset, compiled: compiled.get(dataset) };
    const own = byDataset.get(dataset) ?? [];
    const fresh = mergeDataset({ ...about, text: undefined, base: new Map(), edits: [] });
    // Byte for byte as ktx writes it anew: then nothing of a person's can be in it, and nothing has to be parsed.
    const isAsWritten = text === fresh.text && lines === renderClaims({ base: fresh.base, claims: own, damaged: [] });
    const file = isAsWritten ? nothingRecorded : parseClaims(claimsAt, lines ?? '');
    const edits = file.claims.filter(({ kind }) => kind === 'edit');
    const result = isAsWritten ? { ...fresh, outcome: 'unchanged' as const } : mergeDataset({ ...about, text, base: file.base, edits });
    const now = { base: result.base, claims: [...own, ...file.claims.filter(isTold), ...result.edits], damaged: file.damaged };
    const target = {
      artifact: { path: at, text: result.text },
      claims: { path: claimsAt, text: isAsWritten ? lines : renderClaims(now) },
      interim: result.text === text ? undefined : renderClaims({ ...file, base: eitherBase(file.base, result.base) }),
    };
    return { dataset, at, result, target, compiled: about.compiled, damaged: file.damaged };
  });
  return {
    merged,
    quarantined: [
      ...quarantined.map(({ claim: { subject, kind }, reason }) => ({ subject, kind, reason })),
      ...merged.flatMap(({ damaged }) =>
        damaged.map(({ path, line, reason }) => ({ subject: path, kind: 'line', reason, location: `${path}:${line}` })),
      ),
    ],
  };
}

const nothingRecorded: ClaimsFile = { base: new Map(), claims: [], damaged: [] };

/** What a person claims in so many words; an `edit` only says what they took out of a file. */
function isTold({ kind, evidence }: Claim): boolean {
  return kind !== 'edit' && evidence.some(({ origin }) => origin === 'person');
}

/** What people changed, and what they took out that ktx would have there. */
function keptEdits({ dataset, at, result, compiled }: ReturnType<typeof renderConnection>['merged'][number]): KeptEdit[] {
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
