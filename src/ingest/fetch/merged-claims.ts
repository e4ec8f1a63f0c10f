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

/** By path, the texts that the claims files had on the branches of a merge. */
export type MergedClaims = ReadonlyMap<string, readonly string[]>;

/** More merges without an ingest after them are not looked at. */
const mostMerges = 10;
/** Older commits are not looked at: a history can have a million. */
const mostCommits = 1000;

/**
 * The claims files of all branches that git merged since the last ingest. However a conflict was
 * resolved, what ktx left on each of them is known; empty if nothing was merged.
 */
export async function readMergedClaims(dir: string): Promise<MergedClaims> {
  const repository = await findRepository(dir);
  if (repository === undefined) return new Map();
  const commits = [...(await mergedNow(repository)), ...(await mergedSinceLastRun(repository))];
  const texts = new Map<string, string[]>();
  for (const commit of new Set(commits)) {
    const files = await readFilesAtCommit(repository, commit, ['claims']);
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

/** The parents of the merges that no commit with claims has followed yet. */
async function mergedSinceLastRun(repository: Repository): Promise<string[]> {
  const { root, prefix } = repository;
  const newest = await commitsWithParents(repository);
  if (!newest.some((ids) => ids.length > 2)) return [];
  const older = newest.length < mostCommits ? [] : [`^${newest.at(-1)?.[0]}`];
  const runs = await linesOf(root, [
    'log',
    '--no-merges',
    '--full-history',
    '--diff-filter=AM',
    '--format=%H',
    'HEAD',
    ...older,
    '--',
    `${prefix}claims`,
  ]);
  if (runs.length === 0) return [];
  const merges = await linesOf(root, [
    'rev-list',
    '--merges',
    '--parents',
    `--max-count=${mostMerges}`,
    'HEAD',
    '--not',
    ...runs,
  ]);
  return merges.flatMap((line) => line.split(' ').slice(1));
}

/** The newest commits, each with its parents; none on a branch without commits. */
async function commitsWithParents(repository: Repository): Promise<string[][]> {
  const args = ['rev-list', '--parents', `--max-count=${mostCommits}`, 'HEAD'];
  try {
    return (await linesOf(repository.root, args)).map((line) => line.split(' '));
  } catch (error) {
    if ((await headCommit(repository)) === undefined) return [];
    throw error;
  }
}

async function linesOf(root: string, args: readonly string[]): Promise<string[]> {
  const { stdout } = await git(root, args);
  return stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
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
