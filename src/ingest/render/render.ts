import type { Catalog } from '../../context/catalog/catalog.ts';
import { catalogFiles } from '../../context/catalog/catalog-files.ts';
import { bodySchemas, type Claim } from '../../context/claims/claim.ts';
import { conflictsPath, renderConflicts } from '../../context/compile/conflicts.ts';
import { parsePins, pinsPath, setPin } from '../../context/claims/pins.ts';
import { isDecisionEvidence } from '../../context/claims/model-decisions.ts';
import { parseSubject, parseWikiSubject } from '../../context/claims/subject.ts';
import { wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import { itemPath } from '../../sources/source.ts';
import type { ProjectFindings } from '../fetch/findings.ts';
import { itemBodyWrites, itemIndexWrites, createTablesHasher } from '../fetch/item-files.ts';
import type { FileTree } from '../publish/project-files.ts';
import type { Rendering, Write } from '../publish/publish.ts';
import { isReadingEvidence } from '../fetch/readings.ts';
import { listKeptEdits, renderConnection } from './render-connection.ts';
import { renderWiki } from './render-wiki.ts';

const attributesFile = '.gitattributes';
/** Reviews fold generated files; `-text` and `-filter` keep their bytes as they are, whatever the repository does to its own. */
const attributes = [
  'claims/** linguist-generated -text -filter',
  'sources/** linguist-generated -text -filter',
];
const shared = [attributesFile, 'wiki', wikiClaimsPath, conflictsPath, pinsPath];

/** Everything that an ingest of these warehouses and sources may read and write in a project. */
export function projectFolders({ connections, sources }: ProjectFindings): string[] {
  const own = (name: string) => [`sources/${name}`, `semantic-layer/${name}`, `claims/${name}`];
  const warehouses = connections.flatMap(({ catalog }) => own(catalog.connection));
  return [...shared, ...warehouses, ...sources.map(({ connection }) => `sources/${connection}`)];
}

/** The files of one place as they shall be, from what was found and what people wrote there; without the subjects that failed. Pure. */
export function renderProject(
  findings: ProjectFindings,
  view: FileTree,
  failed: ReadonlySet<string> = new Set(),
): Rendering {
  const claims = claimsOf(findings);
  const { pins, fault } = parsePins(pinsText(findings, view));
  const retained = retainer(findings);
  const wiki = renderWiki(
    { claims: claims.wiki.filter(({ subject }) => !failed.has(subject)), retained, pins },
    view,
  );
  const connections = findings.connections.map(({ catalog: { connection }, claims: scanned }) => {
    const derived = new Set([
      ...(scanned ? [connection] : []),
      ...findings.sources.map((source) => source.connection),
    ]);
    const own = [...(scanned ?? []), ...(claims.warehouses.get(connection) ?? [])];
    return renderConnection({ connection, claims: own, retained, derived, pins, failed }, view);
  });
  const datasets = connections.flatMap((one) => one.datasets);
  const conflicts = renderConflicts([
    ...connections.flatMap((one) => one.conflicts),
    ...wiki.conflicts,
  ]);
  const sliceOf = createTablesHasher(findings.connections.map(({ catalog }) => catalog));
  const scannedCatalogs = findings.connections
    .filter((one) => one.claims !== undefined)
    .map(({ catalog }) => catalog);
  return {
    writes: [
      ...gitAttributes(view),
      ...decision(findings, view),
      ...scannedCatalogs.flatMap((catalog) => catalogWrites(catalog, view)),
      ...findings.sources.flatMap(itemBodyWrites),
      ...datasets.flatMap(({ writes }) => writes),
      ...wiki.writes,
      ...findings.sources.flatMap((source) => itemIndexWrites(source, sliceOf, view)),
      ...(conflicts === view.get(conflictsPath)
        ? []
        : [{ step: 'file_written', path: conflictsPath, text: conflicts } as const]),
    ],
    leftAlone: [
      ...datasets.flatMap(({ at, result: { reason } }) =>
        reason === undefined ? [] : [{ path: at, reason }],
      ),
      ...wiki.leftAlone,
      ...(fault === undefined ? [] : [{ path: pinsPath, reason: fault }]),
    ],
    keptEdits: [...datasets.flatMap(listKeptEdits), ...wiki.keptEdits],
    stale: [
      ...datasets.flatMap(({ at, dataset, result }) =>
        result.stale.map((path) => ({ path: `${dataset}.${path}`, at })),
      ),
      ...wiki.stale,
    ],
    quarantined: [
      ...connections.flatMap(({ quarantined }) => quarantined),
      ...wiki.quarantined,
      ...claims.homeless,
    ],
    conflicts: [...connections.flatMap((one) => one.conflicts), ...wiki.conflicts],
    claims: [...connections.flatMap((one) => one.claims), ...wiki.claims],
  };
}

/** What the sources say of each warehouse and of the wiki, and what is about no warehouse of the project. */
function claimsOf({ sources, connections, decisions = [] }: ProjectFindings) {
  const read = sources.flatMap(({ extractions, readings }) =>
    [...extractions, ...readings.values()].flatMap(({ claims }) => claims),
  );
  const all = [...read, ...decisions];
  const known = new Set(connections.map(({ catalog }) => catalog.connection));
  const home = ({ subject }: Claim) =>
    parseWikiSubject(subject) ? 'wiki:' : (parseSubject(subject)?.connection ?? '');
  const homes = Map.groupBy(all, home);
  const homeless = [...homes]
    .filter(([name]) => name !== 'wiki:' && !known.has(name))
    .flatMap(([, claims]) => claims);
  return {
    wiki: homes.get('wiki:') ?? [],
    warehouses: homes,
    homeless: homeless.map(({ subject, kind }) => ({
      subject,
      kind,
      reason: 'there is no catalog of that warehouse yet',
    })),
  };
}

/**
 * Of a claim that a file records, the evidence that this run does not make anew: what people said, what connections said that
 * were not read now, and what a model ruled. What models read in items comes with the run (`readings`).
 */
function retainer({ connections, sources, decisions = [] }: ProjectFindings) {
  const mended = new Set(decisions.flatMap(mendedClaim));
  const scanned = connections.flatMap(({ catalog, claims }) =>
    claims ? [catalog.connection] : [],
  );
  const derived = new Set([...scanned, ...sources.map(({ connection }) => connection)]);
  const items = new Set(
    sources.flatMap(({ connection, items: own }) =>
      own.map(({ path }) => itemPath(connection, path)),
    ),
  );
  return (claim: Claim): Claim | undefined => {
    if (claim.kind === 'edit' || claim.kind === 'settled') return undefined;
    // Mended anew: what was made of it before does not hold.
    if (mendedClaim(claim).some((id) => mended.has(id))) return undefined;
    const evidence = claim.evidence.filter((one) => {
      return (
        one.origin === 'person' ||
        isDecisionEvidence(one) ||
        !derived.has(one.connection) ||
        (one.origin === 'model' && !isReadingEvidence(one) && items.has(one.item ?? ''))
      );
    });
    return evidence.length === 0 ? undefined : { ...claim, evidence };
  };
}

/** The claim that a repair is about. */
function mendedClaim({ kind, body }: Claim): string[] {
  const { data } = bodySchemas.repaired.safeParse(body);
  return kind === 'repaired' && data !== undefined ? [data.claim] : [];
}

/** Only with the first claims of a place: a line that a person takes out later stays out. */
function gitAttributes(view: FileTree): Write[] {
  if ([...view.keys()].some((path) => path.startsWith('claims/'))) return [];
  const text = view.get(attributesFile) ?? '';
  const missing = attributes.filter((line) => !text.split(/\r?\n/).includes(line));
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return missing.length === 0
    ? []
    : [{ step: 'file_written', path: attributesFile, text: `${start}${missing.join('\n')}\n` }];
}

function pinsText({ pin }: ProjectFindings, view: FileTree): string | undefined {
  return pin === undefined ? view.get(pinsPath) : setPin(view.get(pinsPath), pin);
}

function decision(findings: ProjectFindings, view: FileTree): Write[] {
  if (findings.pin === undefined) return [];
  return [
    { step: 'file_written', path: pinsPath, text: pinsText(findings, view), artifact: pinsPath },
  ];
}

/** Schema files before the index that lists them, what is gone after it: at no moment does the index name a missing file. */
function catalogWrites(catalog: Catalog, view: FileTree): Write[] {
  const wanted = new Map<string, string | undefined>(
    catalogFiles(catalog)
      .toReversed()
      .map(({ path, text }) => [path, text]),
  );
  const isOurs = (path: string) =>
    path.startsWith(`sources/${catalog.connection}/`) &&
    /^[^/]*\/[^/]*\/[^/]*\.(ya?ml|jsonl)$/.test(path);
  const old = [...view.keys()].filter((path) => isOurs(path) && !wanted.has(path));
  for (const path of old) wanted.set(path, undefined);
  return [...wanted].map(([path, text]) => ({ step: 'file_written', path, text }));
}
