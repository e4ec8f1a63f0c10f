import type { Catalog } from '../../context/catalog/catalog.ts';
import { catalogFiles } from '../../context/catalog/catalog-files.ts';
import { bodySchemas, isEditRecord, type Claim } from '../../context/claims/claim.ts';
import { isDecisionEvidence } from '../../context/claims/model-decisions.ts';
import { parsePins, pinsPath, setPin } from '../../context/claims/pins.ts';
import { parseSubject, parseWikiSubject } from '../../context/claims/subject.ts';
import { parseSavedQuerySubject } from '../../context/claims/saved-query-claims.ts';
import { conflictsPath, renderConflicts } from '../../context/compile/conflicts.ts';
import { itemPath } from '../../sources/source.ts';
import { usagePath, usageText } from '../../context/usage/usage.ts';
import type { ConnectionFindings, ProjectFindings } from '../fetch/findings.ts';
import { createTablesHasher, itemBodyWrites, itemIndexWrites } from '../fetch/item-files.ts';
import { isReadingEvidence } from '../fetch/readings.ts';
import { isSameTree, type FileTree } from '../publish/project-files.ts';
import type { FileWrite, Rendering } from '../publish/rendering.ts';
import { attributesFile, ownedPaths } from './owned-paths.ts';
import { listKeptEdits } from './person-edits.ts';
import { renderConnection } from './render-connection.ts';
import { renderSavedQueries } from './render-saved-queries.ts';
import { renderWiki } from './render-wiki.ts';

/**
 * Reviews fold generated files. `-text` and `-filter` keep their bytes as they are, whatever the
 * repository does to its own files.
 */
const attributes = [
  'claims/** linguist-generated -text -filter merge=union',
  'sources/** linguist-generated -text -filter',
  'sources/**/index.jsonl merge=union',
  'pins.yaml merge=union',
];
/** What ktx wrote there before. */
const formerAttributes = new Set(['claims/** linguist-generated -text -filter']);

/** What an ingest with these findings may read and write in a project. */
export function projectFolders({ connections, sources }: ProjectFindings): string[] {
  return ownedPaths({
    warehouses: connections.map(({ catalog }) => catalog.connection),
    sources: sources.map(({ connection }) => connection),
  });
}

interface CachedRendering {
  readonly tree: FileTree;
  readonly failed: ReadonlySet<string>;
  readonly rendering: Rendering;
}

/** The check, the working tree and HEAD are mostly rendered from the same files. */
const cache = new WeakMap<ProjectFindings, CachedRendering[]>();

/**
 * Renders all files from the findings and from what people wrote in the tree (disk or HEAD),
 * leaving out the subjects that failed the check. Pure; equal inputs are rendered once.
 */
export function renderProject(
  findings: ProjectFindings,
  tree: FileTree,
  failed: ReadonlySet<string> = new Set(),
): Rendering {
  const renderings = cache.get(findings) ?? [];
  cache.set(findings, renderings);
  const cached = renderings.find(
    (candidate) =>
      candidate.failed.symmetricDifference(failed).size === 0 && isSameTree(candidate.tree, tree),
  );
  if (cached) return cached.rendering;
  const rendering = renderTree(findings, tree, failed);
  renderings.push({ tree, failed, rendering });
  return rendering;
}

function renderTree(
  findings: ProjectFindings,
  tree: FileTree,
  failed: ReadonlySet<string>,
): Rendering {
  const claims = groupClaims(findings);
  const { pins, fault: pinsError } = parsePins(pinsText(findings, tree));
  const retain = createRetainer(findings);
  const wiki = renderWiki(
    {
      claims: claims.wiki.filter(({ subject }) => !failed.has(subject)),
      retain,
      pins,
      authority: findings.authority,
      merged: findings.merged,
    },
    tree,
  );
  const { authority, merged } = findings;
  const ofQueries = claims.queries.filter(({ subject }) => !failed.has(subject));
  const queries = renderSavedQueries({ claims: ofQueries, retain, authority, merged }, tree);
  const sourceNames = findings.sources.map(({ connection }) => connection);
  const connections = findings.connections.map(({ catalog: { connection }, claims: scanned }) => {
    const derived = new Set([...(scanned ? [connection] : []), ...sourceNames]);
    const all = [...(scanned ?? []), ...(claims.byConnection.get(connection) ?? [])];
    const ownPins = pins.filter(({ subject }) => parseSubject(subject)?.connection === connection);
    const common = { retain, derived, pins: ownPins, authority, merged, failed };
    return renderConnection({ connection, claims: all, ...common }, tree);
  });
  const datasets = connections.flatMap((connection) => connection.datasets);
  const conflicts = [
    ...connections.flatMap((connection) => connection.conflicts),
    ...wiki.conflicts,
  ];
  const pinsLeftAlone = pinsError === undefined ? [] : [{ path: pinsPath, reason: pinsError }];
  const datasetsLeftAlone = datasets.flatMap(({ at, result: { reason } }) =>
    reason === undefined ? [] : [{ path: at, reason }],
  );
  const staleEntries = datasets.flatMap(({ at, dataset, result }) =>
    result.stale.map((path) => ({ path: `${dataset}.${path}`, at })),
  );
  return {
    writes: listWrites(findings, tree, {
      datasets: datasets.flatMap(({ writes }) => writes),
      wiki: wiki.writes,
      queries: queries.writes,
      conflicts: renderConflicts(conflicts),
    }),
    leftAlone: [...datasetsLeftAlone, ...wiki.leftAlone, ...pinsLeftAlone],
    keptEdits: [...datasets.flatMap(listKeptEdits), ...wiki.keptEdits, ...queries.keptEdits],
    stale: [...staleEntries, ...wiki.stale],
    quarantined: [
      ...connections.flatMap(({ quarantined }) => quarantined),
      ...wiki.quarantined,
      ...queries.quarantined,
      ...claims.withoutCatalog,
    ],
    conflicts,
    claims: [
      ...connections.flatMap((connection) => connection.claims),
      ...wiki.claims,
      ...queries.claims,
    ],
  };
}

interface RenderedParts {
  readonly datasets: readonly FileWrite[];
  readonly wiki: readonly FileWrite[];
  readonly queries: readonly FileWrite[];
  /** The text of the file; undefined for no file. */
  readonly conflicts: string | undefined;
}

/** All writes in an order that a kill cannot spoil; see `publish`. */
function listWrites(
  findings: ProjectFindings,
  tree: FileTree,
  { datasets, wiki, queries, conflicts }: RenderedParts,
): FileWrite[] {
  const { connections, sources } = findings;
  const hashTables = createTablesHasher(connections.map(({ catalog }) => catalog));
  const scanned = connections.filter(({ claims }) => claims !== undefined);
  const conflictWrites: FileWrite[] =
    conflicts === tree.get(conflictsPath)
      ? []
      : [{ step: 'file_written', path: conflictsPath, text: conflicts }];
  return [
    ...attributesWrites(tree),
    ...pinWrites(findings, tree),
    ...scanned.flatMap(({ catalog }) => catalogWrites(catalog, tree)),
    ...connections.flatMap((connection) => usageWrites(connection, tree)),
    ...sources.flatMap(itemBodyWrites),
    ...datasets,
    ...queries,
    ...wiki,
    ...sources.flatMap((source) => itemIndexWrites(source, hashTables, tree)),
    ...conflictWrites,
  ];
}

type ClaimGroup = 'wiki' | 'queries' | 'warehouses' | 'withoutCatalog';

/**
 * The claims of sources and models: those about the wiki, those about saved queries, by warehouse,
 * and those about a warehouse without a catalog.
 */
function groupClaims({ sources, connections, decisions = [] }: ProjectFindings) {
  const extracted = sources.flatMap(({ extractions, readings }) =>
    [...extractions, ...readings.values()].flatMap(({ claims }) => claims),
  );
  const all = [...extracted, ...decisions];
  const withCatalog = new Set(connections.map(({ catalog }) => catalog.connection));
  const groups = Map.groupBy(all, ({ subject }): ClaimGroup => {
    if (parseWikiSubject(subject)) return 'wiki';
    const query = parseSavedQuerySubject(subject)?.connection;
    const connection = query ?? parseSubject(subject)?.connection ?? '';
    if (!withCatalog.has(connection)) return 'withoutCatalog';
    return query === undefined ? 'warehouses' : 'queries';
  });
  return {
    wiki: groups.get('wiki') ?? [],
    queries: groups.get('queries') ?? [],
    byConnection: Map.groupBy(
      groups.get('warehouses') ?? [],
      ({ subject }) => parseSubject(subject)?.connection ?? '',
    ),
    withoutCatalog: (groups.get('withoutCatalog') ?? []).map(({ subject, kind }) => ({
      subject,
      kind,
      reason: 'there is no catalog of that warehouse yet',
    })),
  };
}

/**
 * A function that keeps of a recorded claim the evidence that this run does not make anew: what
 * people said, what connections said that were not read now, and the decisions of models. The
 * readings of models come with the run.
 */
function createRetainer({ connections, sources, decisions = [] }: ProjectFindings) {
  const repaired = new Set(decisions.flatMap(repairedClaimIds));
  const scanned = connections.flatMap(({ catalog, claims }) =>
    claims ? [catalog.connection] : [],
  );
  const derived = new Set([...scanned, ...sources.map(({ connection }) => connection)]);
  const itemPaths = new Set(
    sources.flatMap(({ connection, items }) => items.map(({ path }) => itemPath(connection, path))),
  );
  return (claim: Claim): Claim | undefined => {
    if (isEditRecord(claim)) return undefined;
    // A new repair replaces the older one of the same claim.
    if (repairedClaimIds(claim).some((id) => repaired.has(id))) return undefined;
    const evidence = claim.evidence.filter(
      (item) =>
        item.origin === 'person' ||
        isDecisionEvidence(item) ||
        !derived.has(item.connection) ||
        (item.origin === 'model' && !isReadingEvidence(item) && itemPaths.has(item.item ?? '')),
    );
    return evidence.length === 0 ? undefined : { ...claim, evidence };
  };
}

/** The id of the claim that a repair is about; empty for other claims. */
function repairedClaimIds({ kind, body }: Claim): string[] {
  const { data } = bodySchemas.repaired.safeParse(body);
  return kind === 'repaired' && data !== undefined ? [data.claim] : [];
}

/**
 * Written only with the first claims of a project: a line that a person takes out later stays out.
 */
function attributesWrites(tree: FileTree): FileWrite[] {
  const text = tree.get(attributesFile) ?? '';
  const lines = text.split(/\r?\n/);
  // A project that has claims keeps what people made of the file; only ktx's own old lines change.
  const isNew = ![...tree.keys()].some((path) => path.startsWith('claims/'));
  if (!isNew && !lines.some((line) => formerAttributes.has(line))) return [];
  const kept = text
    .split(/(?<=\n)/)
    .filter((line) => !formerAttributes.has(line.trimEnd()))
    .join('');
  const missing = attributes.filter((line) => !kept.split(/\r?\n/).includes(line));
  const start = kept === '' || kept.endsWith('\n') ? kept : `${kept}\n`;
  return missing.length === 0
    ? []
    : [{ step: 'file_written', path: attributesFile, text: `${start}${missing.join('\n')}\n` }];
}

/** Without any use there is no file. */
function usageWrites({ catalog, usage }: ConnectionFindings, tree: FileTree): FileWrite[] {
  if (usage === undefined) return [];
  const path = usagePath(catalog.connection);
  const text = usage.length === 0 ? undefined : usageText(usage);
  return tree.get(path) === text ? [] : [{ step: 'file_written', path, text }];
}

/** The pins of the tree, with those of this run. */
function pinsText({ pins = [] }: ProjectFindings, tree: FileTree): string | undefined {
  return pins.reduce<string | undefined>(setPin, tree.get(pinsPath));
}

function pinWrites(findings: ProjectFindings, tree: FileTree): FileWrite[] {
  if (findings.pins === undefined) return [];
  const text = pinsText(findings, tree);
  return [{ step: 'file_written', path: pinsPath, text, artifact: pinsPath }];
}

/**
 * Schema files, then the index that lists them, then removals, so that the index never lists a file
 * that is missing.
 */
function catalogWrites(catalog: Catalog, tree: FileTree): FileWrite[] {
  const texts = new Map<string, string | undefined>(
    catalogFiles(catalog, tree.keys())
      .toReversed()
      .map(({ path, text }) => [path, text]),
  );
  const isCatalogFile = (path: string) =>
    path.startsWith(`sources/${catalog.connection}/`) &&
    /^[^/]*\/[^/]*\/(?:[^/]*\.(ya?ml|jsonl)|[^/]*\/[0-9a-f]{1,8}\.jsonl)$/.test(path);
  const gone = [...tree.keys()].filter((path) => isCatalogFile(path) && !texts.has(path));
  for (const path of gone) texts.set(path, undefined);
  return [...texts].map(([path, text]) => ({ step: 'file_written', path, text }));
}
