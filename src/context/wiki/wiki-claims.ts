import { findShards, shardLines, shardPath } from '../catalog/shards.ts';
import {
  parseClaims,
  renderClaimLines,
  uniteFiles,
  type ClaimsFile,
} from '../claims/claims-file.ts';
import { wikiClaimsPath } from './wiki-paths.ts';

/** The claims about terms and rules: one file, and once it is large its shards. */
export function parseWikiClaims(files: ReadonlyMap<string, string>): ClaimsFile {
  const paths = [...findShards(wikiClaimsPath, files.keys()).keys()];
  return uniteFiles(paths.map((path) => parseClaims(path, files.get(path) ?? '')));
}

/**
 * The texts of the files by path; undefined for a file that is no longer needed: these come last,
 * so that a line is never nowhere. `existing` are the paths of the files that there are.
 */
export function renderWikiClaims(
  file: ClaimsFile,
  existing: Iterable<string>,
): Map<string, string | undefined> {
  const known = findShards(wikiClaimsPath, existing);
  const shards = shardLines(
    renderClaimLines(file).map((line) => ({ key: lineKey(line), line })),
    { existing: new Set(known.values()) },
  );
  const texts = new Map<string, string | undefined>(
    [...shards].map(([prefix, own]) => [shardPath(wikiClaimsPath, prefix), own]),
  );
  for (const path of known.keys()) if (!texts.has(path)) texts.set(path, undefined);
  return texts;
}

/**
 * The slug of the term or the section that the line is about, so that a term and its section are in
 * the same shard; for any other line the line.
 */
function lineKey(line: string): string {
  const [, about] = /^\{"(?:subject":|base":\{)"([^"]+)"/.exec(line) ?? [];
  return about?.split(/[:/]/).at(-1) ?? line;
}
