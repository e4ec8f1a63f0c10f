import { join } from 'node:path';
import { findShards } from '../../context/catalog/shards.ts';
import type { ClaimsFile } from '../../context/claims/claims-file.ts';
import { parseWikiClaims } from '../../context/wiki/wiki-claims.ts';
import { wikiClaimsFolder, wikiClaimsPath } from '../../context/wiki/wiki-paths.ts';
import { readText } from '../../store/files.ts';
import { listProjectFiles } from './model-files.ts';

/** The paths of the files with the claims about terms and rules; the first need not exist. */
export async function listWikiClaimsFiles(dir: string): Promise<readonly string[]> {
  const inFolder = await listProjectFiles(dir, wikiClaimsFolder, /\.jsonl$/);
  return [...findShards(wikiClaimsPath, [wikiClaimsPath, ...inFolder]).keys()];
}

/** What is claimed about terms and rules. */
export async function readWikiClaims(
  dir: string,
  read: (path: string, within: string) => Promise<string | undefined> = readText,
): Promise<ClaimsFile> {
  const files = (await listWikiClaimsFiles(dir)).map(
    async (path) => [path, (await read(join(dir, path), dir)) ?? ''] as const,
  );
  return parseWikiClaims(new Map(await Promise.all(files)));
}
