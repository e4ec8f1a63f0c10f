import { statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { findRepository, git, headCommit, type Repository } from '../../store/git.ts';

export interface CommitState {
  /** Undefined outside a git repository, and before its first commit. */
  readonly commit?: string | undefined;
  /** Those of the files that differ from the commit; undefined outside a git repository. */
  readonly uncommitted?: readonly string[] | undefined;
  /** Why git does not say: it is not installed, or distrusts the folder. Scans and queries work there all the same. */
  readonly git?: string;
}

const known = new Map<
  string,
  { readonly gitDir: string; readonly mark: string; readonly state: CommitState }
>();

/**
 * Which commit the project's files (or folders) stand at, and which of them differ from it. Git, which takes longer than most
 * queries, is asked again where HEAD, the index or one of the files has changed; for folders, always.
 */
export async function commitState(dir: string, paths: readonly string[]): Promise<CommitState> {
  const key = JSON.stringify([dir, ...paths]);
  const last = known.get(key);
  if (last !== undefined && last.mark === gitStamp(last.gitDir, dir, paths)) return last.state;
  try {
    const repository = await findRepository(dir);
    if (repository === undefined) return {};
    const { gitDir } = repository;
    const mark = gitStamp(gitDir, dir, paths);
    const state = await askGit(repository, paths);
    if (known.size > 1000) known.clear();
    if (mark !== undefined) known.set(key, { gitDir, mark, state });
    return state;
  } catch (error) {
    if (error instanceof UserError && ['git_missing', 'git_failed'].includes(error.code))
      return { git: error.message };
    throw error;
  }
}

/** Changes with what git would say of the files; undefined where that cannot be seen from outside. */
function gitStamp(gitDir: string, dir: string, paths: readonly string[]): string | undefined {
  // Every move of HEAD is written to its log.
  const own = ['HEAD', 'index', 'logs/HEAD'].map((file) =>
    statSync(join(gitDir, file), { throwIfNoEntry: false }),
  );
  const files = paths.map((path) => statSync(join(dir, path), { throwIfNoEntry: false }));
  if (own.includes(undefined) || files.some((file) => file?.isDirectory())) return undefined;
  return [...own, ...files]
    .map((file) => file && `${file.mtimeMs} ${file.ino} ${file.size}`)
    .join();
}

async function askGit(repository: Repository, paths: readonly string[]): Promise<CommitState> {
  const { root, prefix } = repository;
  const commit = await headCommit(repository);
  if (paths.length === 0) return { commit, uncommitted: [] };
  const status = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--'];
  const { stdout } = await git(root, [...status, ...paths.map((path) => prefix + path)]);
  const lines = stdout.toString('utf8').split('\0').slice(0, -1);
  return { commit, uncommitted: lines.map((line) => line.slice(3 + prefix.length)) };
}
