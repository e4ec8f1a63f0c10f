import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../lib/error.ts';

/** A git working tree, seen from a project inside it. Paths given to the functions of this room are the project's own. */
export interface Repository {
  /** Absolute path of the working tree. */
  readonly root: string;
  /** The working tree's own git folder (a linked worktree has its own). */
  readonly gitDir: string;
  /** Where the project lies in it: empty, or a path that ends in `/`. */
  readonly prefix: string;
}

export interface GitCall {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes other than 0 that are an answer. */
  readonly allow?: readonly number[];
}

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Settings of a person that must not run, sign or rewrite anything when ktx commits. */
const overrides = [
  '-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'commit.gpgSign=false', '-c', 'gc.auto=0', '-c', 'maintenance.auto=false',
  '-c', 'i18n.commitEncoding=UTF-8', '-c', 'advice.defaultBranchName=false', '-c', 'core.safecrlf=false',
] as const; // prettier-ignore

/** What a surrounding git process (a hook that runs ktx) sets to point elsewhere. */
const foreign = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY', 'GIT_COMMON_DIR', 'GIT_PREFIX', 'GIT_NAMESPACE'];

/** Runs git in `folder`. A missing binary is `git_missing`; an unexpected exit code is `git_failed` with git's own words. */
export async function git(folder: string, args: readonly string[], call: GitCall = {}): Promise<GitResult> {
  const kept = Object.entries(process.env).filter(([name]) => !foreign.includes(name));
  const env = {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    ...call.env,
  };
  const result = await new Promise<GitResult & { readonly error?: Error }>((done) => {
    const options = { cwd: folder, env, encoding: 'buffer', maxBuffer: 2 ** 31 - 1 } as const;
    const child = execFile('git', [...overrides, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      const text = stderr.toString('utf8').trim();
      done(error !== null && code === -1 ? { code, stdout, stderr: text, error } : { code, stdout, stderr: text });
    });
    // Git may end without reading all of its input; its exit code tells.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(call.input ?? '');
  });
  if (result.code === 0 || call.allow?.includes(result.code) === true) return result;
  throw failure(args, result, folder);
}

function failure(args: readonly string[], result: GitResult & { error?: NodeJS.ErrnoException }, folder: string): Error {
  if (result.error?.code === 'ENOENT' && existsSync(folder)) {
    return new UserError('git_missing', 'git is not installed, or not in the PATH.', {
      hint: 'Install git: https://git-scm.com/downloads',
    });
  }
  const said = result.stderr === '' ? (result.error?.message ?? `exit code ${result.code}`) : result.stderr;
  const locked = said.includes('.lock');
  return new UserError('git_failed', `git ${args[0] ?? ''} failed in ${folder}: ${said}`, {
    hint: locked
      ? 'Another git command is running, or was killed; try again, then remove the lock file that is named.'
      : 'Run the command by hand to see more.',
    retryable: locked,
  });
}

/** The repository whose working tree holds the project and does not ignore it; undefined where there is none. */
export async function findRepository(dir: string): Promise<Repository | undefined> {
  const found = await git(dir, ['rev-parse', '--show-toplevel', '--absolute-git-dir', '--show-prefix'], {
    allow: [128],
  });
  if (found.code !== 0) {
    if (/not a git repository|must be run in a work tree/.test(found.stderr)) return undefined;
    throw new UserError('git_failed', `git cannot use the repository of ${dir}: ${found.stderr}`, {
      hint: 'Follow what git says.',
    });
  }
  const [root = '', gitDir = '', prefix = ''] = found.stdout.toString('utf8').split('\n');
  if (prefix !== '' && (await git(root, ['check-ignore', '-q', '--', prefix], { allow: [1] })).code === 0) return undefined;
  return { root, gitDir, prefix };
}

/** As `findRepository`; makes one in `dir` where there is none. */
export async function openRepository(dir: string): Promise<Repository> {
  const found = await findRepository(dir);
  if (found !== undefined) return found;
  await git(dir, ['init', '--quiet']);
  const made = await findRepository(dir);
  if (made === undefined) throw new UserError('git_failed', `git made no repository in ${dir}.`);
  return made;
}

/** The commit that HEAD means; undefined on a branch without one. */
export async function headCommit(repository: Repository): Promise<string | undefined> {
  const result = await git(repository.root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { allow: [1] });
  return result.code === 0 ? result.stdout.toString('utf8').trim() : undefined;
}

/** What the person is in the middle of; a commit now would become part of it. */
export function operationUnderWay(repository: Repository): string | undefined {
  const marks = [
    ['MERGE_HEAD', 'merge'],
    ['rebase-merge', 'rebase'],
    ['rebase-apply', 'rebase'],
    ['CHERRY_PICK_HEAD', 'cherry-pick'],
    ['REVERT_HEAD', 'revert'],
    ['BISECT_LOG', 'bisect'],
  ] as const;
  return marks.find(([file]) => existsSync(join(repository.gitDir, file)))?.[1];
}

/** Of the project's files below `folders` at a commit: path → text, as git stores it. */
export async function filesAt(repository: Repository, commit: string, folders: readonly string[]): Promise<Map<string, string>> {
  const { root, prefix } = repository;
  const listed = await git(root, ['ls-tree', '-r', '-z', '--full-tree', commit, '--', ...folders.map((folder) => prefix + folder)]);
  const entries = listed.stdout
    .toString('utf8')
    .split('\0')
    .flatMap((line) => /^100\d{3} blob ([0-9a-f]+)\t(.+)$/s.exec(line)?.slice(1) ?? []);
  const paths = entries.filter((_, index) => index % 2 === 1);
  const wanted = entries.filter((_, index) => index % 2 === 0);
  if (wanted.length === 0) return new Map();
  const { stdout } = await git(root, ['cat-file', '--batch'], { input: `${wanted.join('\n')}\n` });
  const files = new Map<string, string>();
  let offset = 0;
  for (const path of paths) {
    const lineEnd = stdout.indexOf(10, offset);
    const size = Number(stdout.subarray(offset, lineEnd).toString('latin1').split(' ')[2]);
    files.set(path.slice(prefix.length), stdout.subarray(lineEnd + 1, lineEnd + 1 + size).toString('utf8'));
    offset = lineEnd + size + 2;
  }
  return files;
}

/** Those of the project's paths that an ignore rule keeps out of git; a tracked file is never ignored. */
export async function ignoredPaths(repository: Repository, paths: readonly string[]): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  const input = paths.map((path) => `${repository.prefix}${path}\0`).join('');
  const result = await git(repository.root, ['check-ignore', '-z', '--stdin'], { input, allow: [1] });
  const found = result.stdout
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '');
  return new Set(found.map((path) => path.slice(repository.prefix.length)));
}
