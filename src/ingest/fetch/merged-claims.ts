import { isEditRecord } from '../../context/claims/claim.ts';
import { parseClaims, uniteClaims, type ClaimsFile } from '../../context/claims/claims-file.ts';
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

/** By path, the texts that the claims files had on the branches of a merge. */
export type MergedClaims = ReadonlyMap<string, readonly string[]>;

/**
 * The claims files of all branches that git merged, squashed, rebased or picked from since the last
 * ingest. However a conflict was resolved, what ktx left on each of them is known; empty if nothing
 * came together.
 */
export async function readMergedClaims(dir: string): Promise<MergedClaims> {
  const repository = await findRepository(dir);
  if (repository === undefined) return new Map();
  const commits = [...(await mergedNow(repository)), ...(await findOtherLines(repository))];
  const texts = new Map<string, string[]>();
  for (const commit of new Set(commits)) {
    const files = await readFilesAtCommit(repository, { commit, folders: ['claims'] });
    for (const [path, text] of files) texts.set(path, [...(texts.get(path) ?? []), text]);
  }
  return texts;
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
  const branches = merged?.get(path)?.filter((own) => own !== text) ?? [];
  if (branches.length === 0) return file;
  const others = branches.map((own) => parseClaims(path, own));
  return {
    ...file,
    base: others.reduce((base, other) => uniteBases(base, other.base), file.base),
    claims: uniteClaims([
      ...file.claims,
      ...others.flatMap(({ claims }) => claims.filter(isEditRecord)),
    ]),
  };
}
