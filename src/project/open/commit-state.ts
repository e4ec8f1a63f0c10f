import { statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import {
  configuredFilters,
  findRepository,
  git,
  headCommit,
  type Repository,
} from '../../store/git.ts';

export interface CommitState {
  /**
   * The commit that is checked out; undefined outside a git repository and before its first commit.
   */
  readonly commit?: string | undefined;
  /** The given files that differ from the commit; undefined outside a git repository. */
  readonly uncommitted?: readonly string[] | undefined;
  /**
   * Why git could not be asked: it is not installed, or it distrusts the folder. Everything else
   * still works.
   */
  readonly git?: string;
}

interface CachedState {
  readonly gitDir: string;
  readonly stamp: string;
  readonly state: CommitState;
}

const cache = new Map<string, CachedState>();
const maxCached = 1000;

/**
 * The commit of the project, and which of the given files or folders differ from it. Running git
 * takes longer than most queries, so the answer is cached until HEAD, the index or one of the files
 * changes. Answers about folders are never cached.
 */
export async function readCommitState(dir: string, paths: readonly string[]): Promise<CommitState> {
  const key = JSON.stringify([dir, ...paths]);
  const cached = cache.get(key);
  if (cached !== undefined && cached.stamp === gitStamp(cached.gitDir, dir, paths))
    return cached.state;
  try {
    const repository = await findRepository(dir);
    if (repository === undefined) return {};
    const { gitDir } = repository;
    // Taken before git runs: a change in between makes the next call ask again.
    const stamp = gitStamp(gitDir, dir, paths);
    const state = await askGit(repository, paths);
    if (cache.size > maxCached) cache.clear();
    if (stamp !== undefined) cache.set(key, { gitDir, stamp, state });
    return state;
  } catch (error) {
    if (
      error instanceof UserError &&
      ['git_missing', 'git_failed', 'git_filter', 'git_tree_elsewhere'].includes(error.code)
    )
      return { git: error.message };
    throw error;
  }
}

/**
 * Changes whenever git's answer about the files could change; undefined if the file system cannot
 * tell.
 */
function gitStamp(gitDir: string, dir: string, paths: readonly string[]): string | undefined {
  // Git writes every move of HEAD to its log.
  const gitFiles = ['HEAD', 'index', 'logs/HEAD'].map((file) =>
    statSync(join(gitDir, file), { throwIfNoEntry: false }),
  );
  const files = paths.map((path) => statSync(join(dir, path), { throwIfNoEntry: false }));
  if (gitFiles.includes(undefined) || files.some((file) => file?.isDirectory())) return undefined;
  return [...gitFiles, ...files]
    .map((file) => file && `${file.mtimeMs} ${file.ino} ${file.size}`)
    .join();
}

async function askGit(repository: Repository, paths: readonly string[]): Promise<CommitState> {
  const { root, prefix } = repository;
  if (paths.length === 0) return { commit: await headCommit(repository), uncommitted: [] };
  const listed = ['--porcelain=v2', '--branch', '-z', '--no-renames', '--untracked-files=all'];
  const status = ['status', ...listed, '--ignore-submodules=all', '--'];
  const inRoot = paths.map((path) => prefix + path);
  const { stdout } = await git(root, [...status, ...inRoot], {
    filters: await configuredFilters(repository),
  });
  const lines = stdout.toString('utf8').split('\0').slice(0, -1);
  const commit = lines.flatMap((line) => /^# branch\.oid ([0-9a-f]+)$/.exec(line)?.[1] ?? [])[0];
  const changed = lines.filter((line) => !line.startsWith('#')).map(changedPath);
  return { commit, uncommitted: changed.map((path) => path.slice(prefix.length)) };
}

/**
 * The path in a line of `git status`, from the root of the repository. It follows a question mark
 * for an untracked file, and seven more fields (nine in a conflict) for others.
 */
function changedPath(line: string): string {
  const fields = { '?': 1, u: 10 }[line.slice(0, 1)] ?? 8;
  return line.split(' ').slice(fields).join(' ');
}
