import { pinsPath } from '../../context/claims/pins.ts';
import { conflictsPath } from '../../context/compile/conflicts.ts';
import { savedQueryClaimsPath } from '../../context/claims/saved-query-claims.ts';
import { wikiClaimsFolder, wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';

export const attributesFile = '.gitattributes';
const sharedPaths = [
  attributesFile,
  'wiki',
  wikiClaimsPath,
  wikiClaimsFolder,
  savedQueryClaimsPath,
  conflictsPath,
  pinsPath,
];

interface ConnectionNames {
  readonly warehouses: readonly string[];
  readonly sources: readonly string[];
}

/**
 * Every folder and file that an ingest of these warehouses and sources may read and write in a
 * project.
 */
export function ownedPaths({ warehouses, sources }: ConnectionNames): string[] {
  const warehouseFolders = warehouses.flatMap((connection) => [
    `sources/${connection}`,
    `semantic-layer/${connection}`,
    `semantic-layer/${connection}/queries`,
    `claims/${connection}`,
  ]);
  return [...sharedPaths, ...warehouseFolders, ...sources.map((source) => `sources/${source}`)];
}
