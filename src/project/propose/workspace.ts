import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { ensureStateDirectory } from '../../store/directories.ts';
import { readTextSync } from '../../store/files.ts';
import { commitOf, configuredFilters, findRepository, git } from '../../store/git.ts';
import type { Repository } from '../../store/git.ts';
import { openProject, viewIn, type Project } from '../open/open.ts';

/** A second working tree of the repository, in `.ktx`, where changes are made and not kept. */
interface Workspace extends AsyncDisposable {
  readonly repository: Repository;
  /** The project there: everything else is that of the project that was given. */
  readonly project: Project;
}

/**
 * Brings the working tree to a commit, whatever a killed run left there. The caller holds the
 * project's lock: there is one tree, so changes are made one after another.
 */
export async function openWorkspace(project: Project, commit: string): Promise<Workspace> {
  const owner = await requireRepository(project.dir);
  const { worktree } = ensureStateDirectory(project.dir);
  await checkOut(owner, worktree, commit);
  const dir = join(worktree, owner.prefix);
  if (!existsSync(join(dir, 'ktx.yaml')))
    throw new UserError('change_base_unfit', 'The base branch has no ktx.yaml in this folder.', {
      hint: 'Push the project to serve.git.base first, or name another base.',
      exitCode: 2,
    });
  // Notes that others handed in belong to changes of their own.
  rmSync(ensureStateDirectory(dir).notes, { recursive: true, force: true });
  const there = await openProject(dir);
  return {
    repository: await requireRepository(dir),
    project: viewIn(there, project),
    [Symbol.asyncDispose]: () => there.close(),
  };
}

/** The repository of a project whose changes are proposed. */
export async function requireRepository(dir: string): Promise<Repository> {
  const repository = await findRepository(dir);
  if (repository !== undefined) return repository;
  throw new UserError('git_missing_repository', `${dir} is in no git repository.`, {
    hint: 'serve.changes: pull_request needs a clone of serve.git.repository.',
    exitCode: 2,
  });
}

async function checkOut(owner: Repository, worktree: string, commit: string): Promise<void> {
  const filters = await configuredFilters(owner);
  if (await isWorktree(owner, worktree)) {
    // A killed git leaves its lock behind, and nobody else works here.
    const { gitDir } = await requireRepository(worktree);
    rmSync(join(gitDir, 'index.lock'), { force: true });
    const args = ['checkout', '--quiet', '--detach', '--force', commit];
    await git(worktree, args, { filters });
    await git(worktree, ['clean', '-ffdxq', '-e', '.ktx'], { filters });
    return;
  }
  rmSync(worktree, { recursive: true, force: true });
  const args = ['worktree', 'add', '--quiet', '--force', '--detach', worktree, commit];
  await git(owner.root, args, { filters });
}

/** False for what is missing, half made, or no longer known to the repository. */
async function isWorktree(owner: Repository, worktree: string): Promise<boolean> {
  if (!existsSync(join(worktree, '.git'))) return false;
  const found = await git(worktree, ['rev-parse', '--path-format=absolute', '--git-common-dir'], {
    allow: [128],
  });
  return found.code === 0 && found.stdout.toString('utf8').trim() === owner.commonDir;
}

interface ChangedFile {
  readonly path: string;
  readonly text: string | undefined;
  readonly onDisk: boolean;
}

/** What was written there, against the commit. */
export async function listChanges({ repository }: Workspace): Promise<readonly ChangedFile[]> {
  const { root, prefix } = repository;
  const filters = await configuredFilters(repository);
  const args = ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames', '--', '.'];
  const { stdout } = await git(join(root, prefix), args, { filters });
  return stdout
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const path = line.slice(3 + prefix.length);
      const text = readTextSync(join(root, prefix, path));
      return { path, text, onDisk: text !== undefined };
    });
}

/** The commit with its tree, as commits are based on it. */
export async function baseOf(
  repository: Repository,
  commit: string,
): Promise<NonNullable<Repository['head']>> {
  const { stdout } = await git(repository.root, ['rev-parse', '--verify', `${commit}^{tree}`]);
  return { commit, tree: stdout.toString('utf8').trim() };
}

/** The ref that keeps what was made for a change, in the repository of the server. */
export function changeRef(id: string): string {
  return `refs/ktx/changes/${id}`;
}

export function refTip(repository: Repository, id: string): Promise<string | undefined> {
  return commitOf(repository, changeRef(id));
}
