import type { Claim } from '../../context/claims/claim.ts';
import { tableLocation } from '../../context/catalog/catalog.ts';
import { claimsPath, parseClaims } from '../../context/claims/claims-file.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { findStaleSubjects, type ModelInputChanges } from '../../context/compile/stale.ts';
import { structureHash } from '../../scan/describe/description-task.ts';
import { itemPath } from '../../sources/source.ts';
import { readText } from '../../store/files.ts';
import { readAuthority } from '../open/authority.ts';
import { listSources } from '../open/config.ts';
import { loadItemIndex } from '../../ingest/fetch/load-item-index.ts';
import { openCachedReader } from '../open/file-cache.ts';
import { listProjectFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { listWikiClaimsFiles, readWikiClaims } from '../open/wiki-claims-files.ts';
import { notesName } from '../../sources/notes/note-files.ts';

export interface StaleSubject {
  readonly subject: string;
  readonly why: string;
}

/** Subject → why it is stale. */
type StaleReasons = ReadonlyMap<string, string>;

/** Which subjects have only evidence that has changed since a model read it. */
export interface Staleness {
  ofDataset(connection: string, dataset: string): Promise<StaleReasons>;
  ofWiki(): Promise<StaleReasons>;
}

const readPins = openCachedReader(parsePins);
/** The text of a claims file; undefined if no claim in it can be stale. */
const readModelClaims = openCachedReader(
  (text) => (/"origin":"model"|"expires":/.test(text ?? '') ? text : undefined),
  readText,
);

/** Reads only files in git. A project without claims from a model costs next to nothing. */
export async function openStaleness(
  project: Pick<Project, 'dir' | 'config' | 'catalog'>,
): Promise<Staleness> {
  const { dir } = project;
  const { pins } = await readPins(dir, pinsPath);
  const authority = readAuthority(project.config);
  let changedItems: Promise<ModelInputChanges['items']> | undefined;
  const structures = new Map<string, Promise<ModelInputChanges['structures']>>();
  const structuresOf = (connection: string) => {
    const known = structures.get(connection) ?? tableStructures(project, connection);
    structures.set(connection, known);
    return known;
  };
  const inClaimsFile = async (path: string, connection?: string): Promise<StaleReasons> => {
    const text = await readModelClaims(dir, path);
    return text === undefined ? new Map() : inClaims(parseClaims(path, text).claims, connection);
  };
  const inClaims = async (claims: readonly Claim[], connection?: string): Promise<StaleReasons> => {
    return findStaleSubjects(
      claims,
      { pins, authority },
      {
        items: await (changedItems ??= findChangedItems(project)),
        structures: connection === undefined ? new Map() : await structuresOf(connection),
      },
    );
  };
  return {
    ofDataset: (connection, dataset) => inClaimsFile(claimsPath(connection, dataset), connection),
    ofWiki: async () => {
      const paths = await listWikiClaimsFiles(dir);
      const texts = await Promise.all(paths.map((path) => readModelClaims(dir, path)));
      const isKnown = texts.every((text) => text === undefined);
      return isKnown ? new Map() : inClaims((await readWikiClaims(dir)).claims);
    },
  };
}

/** All stale subjects of the project, sorted by subject. */
export async function listStaleSubjects(project: Project): Promise<readonly StaleSubject[]> {
  const staleness = await openStaleness(project);
  const ofDatasets = project.warehouses.map(async (connection) => {
    const files = await listProjectFiles(project.dir, `claims/${connection}`, /\.jsonl$/);
    const names = files.map((path) => path.slice(`claims/${connection}/`.length, -'.jsonl'.length));
    return Promise.all(names.map((name) => staleness.ofDataset(connection, name)));
  });
  const reasons = [...(await Promise.all(ofDatasets)).flat(), await staleness.ofWiki()];
  return reasons
    .flatMap((bySubject) => [...bySubject].map(([subject, why]) => ({ subject, why })))
    .sort((a, b) => (a.subject < b.subject ? -1 : 1));
}

/**
 * Items whose text, or the tables that they mention, changed after a model read them: path → why.
 */
async function findChangedItems({
  dir,
  config,
}: Pick<Project, 'dir' | 'config'>): Promise<ModelInputChanges['items']> {
  const names = [...listSources(config).map(([name]) => name), notesName];
  const changes = names.map(async (name) => {
    const index = await loadItemIndex(dir, name);
    return index.flatMap(({ path, hash, slice, read }): [string, string][] => {
      if (read === undefined || (read.hash === hash && read.slice === slice)) return [];
      const item = itemPath(name, path);
      const why =
        read.hash === hash
          ? `a table that ${item} speaks of has changed`
          : `${item} has changed since a model read it`;
      return [[item, why]];
    });
  });
  return new Map((await Promise.all(changes)).flat());
}

/** Keyed by the catalog file and the name of the table. */
async function tableStructures(
  project: Pick<Project, 'catalog'>,
  connection: string,
): Promise<ModelInputChanges['structures']> {
  const tables = (await project.catalog(connection))?.tables ?? [];
  return new Map(
    tables.map((table) => [
      `sources/${connection}/${table.schema}.jsonl ${tableLocation(table)}`,
      structureHash(table),
    ]),
  );
}
