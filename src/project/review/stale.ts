import { join } from 'node:path';
import { claimsPath, parseClaims } from '../../context/claims/claims-file.ts';
import { parsePins, pinsPath } from '../../context/claims/pins.ts';
import { wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import { parseItemIndex } from '../../ingest/fetch/item-files.ts';
import { findStaleSubjects, type ModelInputChanges } from '../../ingest/publish/stale.ts';
import { describedStructure } from '../../scan/describe/descriptions.ts';
import { itemPath } from '../../sources/source.ts';
import { readText } from '../../store/files.ts';
import { notesName, listSources } from '../open/config.ts';
import { listFiles, openCachedReader } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';

type StaleSubjects = ReadonlyMap<string, string>;

/** Subjects that lean on what has changed since a model read it, each with why; by what they are about. */
export interface Staleness {
  ofDataset(connection: string, dataset: string): Promise<StaleSubjects>;
  ofWiki(): Promise<StaleSubjects>;
}

const readPins = openCachedReader(parsePins);
/** The text of a file of claims that has any of a model. */
const readModelClaims = openCachedReader(
  (text) => (text?.includes('"origin":"model"') === true ? text : undefined),
  readText,
);

/** From the files in git alone; a project without a model's claims costs next to nothing. */
export async function openStaleness(
  project: Pick<Project, 'dir' | 'config' | 'catalog'>,
): Promise<Staleness> {
  const { dir } = project;
  const { pins } = await readPins(dir, pinsPath);
  let changed: Promise<ModelInputChanges['items']> | undefined;
  const structures = new Map<string, Promise<ModelInputChanges['structures']>>();
  const structuresOf = (connection: string) => {
    const known = structures.get(connection) ?? tableStructures(project, connection);
    structures.set(connection, known);
    return known;
  };
  const inFile = async (path: string, connection?: string): Promise<StaleSubjects> => {
    const text = await readModelClaims(dir, path);
    if (text === undefined) return new Map();
    const known =
      connection === undefined ? new Map<string, string>() : await structuresOf(connection);
    return findStaleSubjects(parseClaims(path, text).claims, pins, {
      items: await (changed ??= changedItems(project)),
      structures: known,
    });
  };
  return {
    ofDataset: (connection, dataset) => inFile(claimsPath(connection, dataset), connection),
    ofWiki: () => inFile(wikiClaimsPath),
  };
}

/** Everything stale in the project, sorted. */
export async function listStaleSubjects(
  project: Project,
): Promise<readonly { readonly subject: string; readonly why: string }[]> {
  const staleness = await openStaleness(project);
  const datasets = project.warehouses.map(async (connection) => {
    const files = await listFiles(project.dir, `claims/${connection}`, /\.jsonl$/);
    const names = files.map((path) => path.slice(`claims/${connection}/`.length, -'.jsonl'.length));
    return Promise.all(names.map((name) => staleness.ofDataset(connection, name)));
  });
  const found = [...(await Promise.all(datasets)).flat(), await staleness.ofWiki()];
  return found
    .flatMap((one) => [...one].map(([subject, why]) => ({ subject, why })))
    .sort((a, b) => (a.subject < b.subject ? -1 : 1));
}

/** Items of which another text, or another shape of the tables that they speak of, was read than there is now. */
async function changedItems({
  dir,
  config,
}: Pick<Project, 'dir' | 'config'>): Promise<ModelInputChanges['items']> {
  const names = [...listSources(config).map(([name]) => name), notesName];
  const indexes = names.map(async (name) => {
    const text = (await readText(join(dir, itemPath(name, 'index.jsonl')), dir)) ?? '';
    return parseItemIndex(text).flatMap(({ path, hash, slice, read }): [string, string][] => {
      if (read === undefined || (read.hash === hash && read.slice === slice)) return [];
      const place = itemPath(name, path);
      return [
        [
          place,
          read.hash === hash
            ? `a table that ${place} speaks of has changed`
            : `${place} has changed since a model read it`,
        ],
      ];
    });
  });
  return new Map((await Promise.all(indexes)).flat());
}

async function tableStructures(
  project: Pick<Project, 'catalog'>,
  connection: string,
): Promise<ModelInputChanges['structures']> {
  const tables = (await project.catalog(connection))?.tables ?? [];
  return new Map(
    tables.map((table) => [
      `sources/${connection}/${table.schema}.jsonl ${table.table}`,
      describedStructure(table),
    ]),
  );
}
