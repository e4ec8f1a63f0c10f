import { isEditRecord } from '../../context/claims/claim.ts';
import { parseClaims, uniteClaims, type ClaimsFile } from '../../context/claims/claims-file.ts';
import { parseWikiClaims } from '../../context/wiki/wiki-claims.ts';
import { uniteBases } from '../../context/merge/merge-base.ts';
import {
  findRepository,
  git,
  headCommit,
  readFilesAtCommit,
  unfinishedGitOperation,
  type Repository,
} from '../../store/git.ts';
import { findOtherLines } from './rewritten-lines.ts';

/** The claims files of each branch of a merge: texts by path. */
export type MergedClaims = readonly ReadonlyMap<string, string>[];

/**
 * The claims files of all branches that git merged, squashed, rebased or picked from since the last
 * ingest. However a conflict was resolved, what ktx left on each of them is known; empty if nothing
 * came together.
 */
export async function readMergedClaims(dir: string): Promise<MergedClaims> {
  const repository = await findRepository(dir);
  if (repository === undefined) return [];
  const commits = [...(await mergedNow(repository)), ...(await findOtherLines(repository))];
  const branches: ReadonlyMap<string, string>[] = [];
  for (const commit of new Set(commits))
    branches.push(await readFilesAtCommit(repository, { commit, folders: ['claims'] }));
  return branches;
}

/** Both sides of a merge that is not committed yet. */
async function mergedNow(repository: Repository): Promise<string[]> {
  if (unfinishedGitOperation(repository) !== 'merge') return [];
  const { stdout } = await git(repository.root, ['rev-parse', '-q', '--verify', 'MERGE_HEAD'], {
    allow: [1],
  });
  const [head, other] = [await headCommit(repository), stdout.toString('utf8').trim()];
  return head === undefined || other === '' ? [] : [head, other];
}

/** A claims file with what ktx left, and people decided, on the branches that were merged. */
export function parseMergedClaims(
  path: string,
  text: string,
  merged: MergedClaims | undefined,
): ClaimsFile {
  const file = parseClaims(path, text);
  const branches = (merged ?? []).flatMap((files) => files.get(path) ?? []);
  const others = [...new Set(branches)]
    .filter((own) => own !== text)
    .map((own) => parseClaims(path, own));
  return addBranches(file, others);
}

/** The claims about terms and rules in a tree, likewise. */
export function parseMergedWikiClaims(
  tree: ReadonlyMap<string, string>,
  merged: MergedClaims | undefined,
): ClaimsFile {
  const branches = (merged ?? []).map(parseWikiClaims);
  return addBranches(
    parseWikiClaims(tree),
    branches.filter(({ base, claims }) => base.size + claims.length > 0),
  );
}

function addBranches(file: ClaimsFile, others: readonly ClaimsFile[]): ClaimsFile {
  if (others.length === 0) return file;
  return {
    ...file,
    base: others.reduce((base, other) => uniteBases(base, other.base), file.base),
    claims: uniteClaims([
      ...file.claims,
      ...others.flatMap(({ claims }) => claims.filter(isEditRecord)),
    ]),
  };
}
