import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import {
  configuredFilters,
  findRepository,
  git,
  headCommit,
  type Repository,
} from '../../store/git.ts';
import { projectPaths } from '../../store/directories.ts';
import { readTextOrNothing } from '../../store/files.ts';
import { openSealedAnswers, type SealedAnswers } from '../../store/ownership/sealed-answers.ts';
import { realPath } from '../../store/secrets.ts';

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
/**
 * Milliseconds that a file must have been left alone before an answer about it is kept for other
 * processes: within them, a file system may give two changes the same time.
 */
const settledMs = 1000;
/** Projects of which git said that no repository has them. */
const withoutRepository = new Set<string>();
const maxCached = 1000;

/**
 * The commit of the project, and which of the given files or folders differ from it. Running git
 * takes longer than most queries, so the answer is cached until HEAD, the index or one of the files
 * changes; that there is no repository, until one appears. Answers about folders are never cached.
 * That files are as they were committed is kept for the next process too.
 */
export async function readCommitState(dir: string, paths: readonly string[]): Promise<CommitState> {
  const key = keyOf(dir, paths);
  const cached = cache.get(key);
  if (cached !== undefined && cached.stamp === gitStamp(cached.gitDir, dir, paths)?.text)
    return cached.state;
  if (withoutRepository.has(dir) && !isBelowGit(dir)) return {};
  const kept = readKeptState(dir, paths);
  if (kept !== undefined) return kept;
  try {
    const repository = await findRepository(dir);
    if (repository === undefined) {
      if (withoutRepository.size > maxCached) withoutRepository.clear();
      withoutRepository.add(dir);
      return {};
    }
    const { gitDir } = repository;
    // Taken before git runs: a change in between makes the next call ask again.
    const stamp = gitStamp(gitDir, dir, paths);
    const state = await askGit(repository, paths);
    if (cache.size > maxCached) cache.clear();
    if (stamp !== undefined) {
      cache.set(key, { gitDir, stamp: stamp.text, state });
      if (gitDir === ownGitDir(dir)) await keepState(dir, paths, { stamp, state });
    }
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

const keyOf = (dir: string, paths: readonly string[]): string => JSON.stringify([dir, ...paths]);

/** The git folder of a project that is the root of its repository, if it is no linked worktree. */
function ownGitDir(dir: string): string {
  return join(realPath(dir), '.git');
}

/** Undefined where `.ktx` is not this machine's. */
function keptStates(dir: string): SealedAnswers | undefined {
  try {
    return openSealedAnswers(projectPaths(dir).cache, 'commits');
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

const keptQuestion = (dir: string, paths: readonly string[], stamp: string): string =>
  JSON.stringify([realPath(dir), paths, stamp]);

/** What another process found out, if nothing has changed since. */
function readKeptState(dir: string, paths: readonly string[]): CommitState | undefined {
  const gitDir = ownGitDir(dir);
  if (statSync(gitDir, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const stamp = gitStamp(gitDir, dir, paths);
  if (stamp === undefined) return undefined;
  // Signed: it is what `keepState` wrote.
  const state = keptStates(dir)?.read(keptQuestion(dir, paths, stamp.text)) as
    | CommitState
    | undefined;
  if (state !== undefined) cache.set(keyOf(dir, paths), { gitDir, stamp: stamp.text, state });
  return state;
}

interface StampedState {
  readonly stamp: GitStamp;
  readonly state: CommitState;
}

/** Only of files that git has as they are: whether it ignores another one is not in the stamp. */
async function keepState(
  dir: string,
  paths: readonly string[],
  { stamp, state }: StampedState,
): Promise<void> {
  if (state.commit === undefined || state.uncommitted?.length !== 0) return;
  if (Date.now() - stamp.lastChange < settledMs) return;
  await keptStates(dir)?.write(keptQuestion(dir, paths, stamp.text), state);
}

/** True if the folder or one above it has what git looks for; its answer is then not known. */
function isBelowGit(dir: string): boolean {
  for (let folder = realPath(dir); ; folder = dirname(folder)) {
    if (statSync(join(folder, '.git'), { throwIfNoEntry: false }) !== undefined) return true;
    if (folder === dirname(folder)) return false;
  }
}

interface GitStamp {
  readonly text: string;
  /** Milliseconds since 1970: when the youngest of the files was changed. */
  readonly lastChange: number;
}

/**
 * Changes whenever git's answer about the files could change; undefined if the file system cannot
 * tell.
 */
function gitStamp(gitDir: string, dir: string, paths: readonly string[]): GitStamp | undefined {
  // Git writes every move of HEAD to its log.
  const needed = ['HEAD', 'index', 'logs/HEAD'].map((file) => join(gitDir, file));
  // A tool that writes the branch itself leaves no line in the log.
  const others = ['config', 'packed-refs', ...branchFile(gitDir)].map((file) => join(gitDir, file));
  const ofFile = (path: string) => statSync(path, { throwIfNoEntry: false });
  const found = needed.map(ofFile);
  const files = paths.map((path) => ofFile(join(dir, path)));
  if (found.includes(undefined) || files.some((file) => file?.isDirectory())) return undefined;
  const all = [...found, ...others.map(ofFile), ...files];
  return {
    // Unlike the time of the last writing, that of the last change cannot be set.
    text: all.map((file) => file && `${file.ctimeMs} ${file.ino} ${file.size}`).join(),
    lastChange: Math.max(...all.map((file) => file?.ctimeMs ?? 0)),
  };
}

/** The file of the branch that is checked out, if HEAD names one. */
function branchFile(gitDir: string): readonly string[] {
  const head = readTextOrNothing(join(gitDir, 'HEAD'), gitDir);
  const branch = /^ref: (refs\/heads\/[^\n]+)\n$/.exec(head)?.[1];
  return branch === undefined || branch.includes('..') ? [] : [branch];
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
