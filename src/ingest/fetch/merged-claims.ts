import { isEditRecord } from '../../context/claims/claim.ts';
import { parseClaims, uniteClaims, type ClaimsFile } from '../../context/claims/claims-file.ts';
import { parseWikiClaims } from '../../context/wiki/wiki-claims.ts';
import { uniteBases, uniteHashes } from '../../context/merge/merge-base.ts';
import {
  findRepository,
  git,
  headCommit,
  readFilesAtCommit,
  unfinishedGitOperation,
  type Repository,
} from '../../store/git.ts';
import { findCopiedValues, findOtherLines } from './rewritten-lines.ts';

type LineTexts = readonly ReadonlyMap<string, string>[];

/** Claims files of other lines of the history: texts by path. */
export interface MergedClaims {
  /** Of each branch that came together. */
  readonly branches: LineTexts;
  /** Of lines that single values may have been taken from. */
  readonly copies: LineTexts;
}

/**
 * The claims files of all branches that git merged, squashed, rebased or picked from since the last
 * ingest. However a conflict was resolved, what ktx left on each of them is known; empty if nothing
 * came together.
 */
export async function readMergedClaims(dir: string): Promise<MergedClaims> {
  const repository = await findRepository(dir);
  if (repository === undefined) return { branches: [], copies: [] };
  const commits = [...(await mergedNow(repository)), ...(await findOtherLines(repository))];
  const readAll = async (ids: Iterable<string>, folders: readonly string[]) => {
    const texts: ReadonlyMap<string, string>[] = [];
    for (const commit of ids) texts.push(await readFilesAtCommit(repository, { commit, folders }));
    return texts;
  };
  const copied = await findCopiedValues(repository);
  return {
    branches: await readAll(new Set(commits), ['claims']),
    copies: await readAll(copied.commits, copied.paths),
  };
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
  const others = (texts: LineTexts = []) =>
    [...new Set(texts.flatMap((files) => files.get(path) ?? []))]
      .filter((own) => own !== text)
      .map((own) => parseClaims(path, own));
  return addCopies(addBranches(file, others(merged?.branches)), others(merged?.copies));
}

/** The claims about terms and rules in a tree, likewise. */
export function parseMergedWikiClaims(
  tree: ReadonlyMap<string, string>,
  merged: MergedClaims | undefined,
): ClaimsFile {
  const others = (texts: LineTexts = []) =>
    texts.map(parseWikiClaims).filter(({ base, claims }) => base.size + claims.length > 0);
  const file = addBranches(parseWikiClaims(tree), others(merged?.branches));
  return addCopies(file, others(merged?.copies));
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

/**
 * A value that ktx left on the other line counts as ktx's. What it did not have there does not: a
 * person may have taken it out here.
 */
function addCopies(file: ClaimsFile, others: readonly ClaimsFile[]): ClaimsFile {
  const base = new Map(file.base);
  for (const other of others)
    for (const [path, hashes] of other.base) {
      const values = hashes.filter((hash) => hash !== null);
      base.set(path, uniteHashes(base.get(path) ?? [null], values));
    }
  return { ...file, base };
}
