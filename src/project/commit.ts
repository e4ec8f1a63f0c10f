import { UserError } from '../lib/error.ts';
import { findRepository, git, headCommit } from '../store/git.ts';

export interface CommitState {
  /** Undefined outside a git repository, and before its first commit. */
  readonly commit?: string | undefined;
  /** Those of the files that differ from the commit; undefined outside a git repository. */
  readonly uncommitted?: readonly string[] | undefined;
  /** Why git does not say: it is not installed, or distrusts the folder. Scans and queries work there all the same. */
  readonly git?: string;
}

/** Which commit the project's files (or folders) stand at, and which of them differ from it. */
export async function commitState(dir: string, paths: readonly string[]): Promise<CommitState> {
  try {
    const repository = await findRepository(dir);
    if (repository === undefined) return {};
    const { root, prefix } = repository;
    const commit = await headCommit(repository);
    if (paths.length === 0) return { commit, uncommitted: [] };
    const status = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--'];
    const { stdout } = await git(root, [...status, ...paths.map((path) => prefix + path)]);
    const lines = stdout.toString('utf8').split('\0').slice(0, -1);
    return { commit, uncommitted: lines.map((line) => line.slice(3 + prefix.length)) };
  } catch (error) {
    if (error instanceof UserError && ['git_missing', 'git_failed'].includes(error.code)) return { git: error.message };
    throw error;
  }
}
