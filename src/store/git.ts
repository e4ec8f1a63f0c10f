import { isUtf8 } from 'node:buffer';
import { execFile, type ExecFileException } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorMessage, UserError } from '../lib/error.ts';
import { isInside } from './confined-file.ts';
import { gitEnvironment, overrides, withoutFilters } from './git-isolation.ts';

/**
 * A git working tree that contains the project. The functions of this room take paths relative to
 * the project.
 */
export interface Repository {
  /** Absolute path of the working tree. */
  readonly root: string;
  /** The git folder of this working tree; a linked worktree has its own. */
  readonly gitDir: string;
  /** The git folder that linked worktrees share. */
  readonly commonDir: string;
  /** The project's path in the working tree: empty, or ending in `/`. */
  readonly prefix: string;
}

interface GitOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** How much the command may print. */
  readonly maxBytes?: number;
  /**
   * For a command that reads files of the working tree: the result of `configuredFilters`, to
   * switch them off.
   */
  readonly filters?: readonly string[];
  /** Exit codes other than 0 that are not an error. */
  readonly allow?: readonly number[];
}

/** In milliseconds. A repository can name a pipe as one of its files, and git would wait for it. */
const longestCall = 600_000;

/**
 * Runs git in `folder`. Throws `git_missing` if git is not installed, and `git_failed` with git's
 * message for any other exit code.
 */
export async function git(
  folder: string,
  args: readonly string[],
  {
    input = '',
    env = {},
    allow = [],
    signal,
    filters = [],
    maxBytes = 2 ** 31 - 1,
  }: GitOptions = {},
) {
  const options = {
    cwd: folder,
    env: { ...gitEnvironment(), ...env },
    encoding: 'buffer',
    maxBuffer: maxBytes,
    timeout: longestCall,
    signal,
  } as const;
  const settings = [...overrides, ...withoutFilters(filters)];
  const { error, ...result } = await new Promise<{
    error: ExecFileException | null;
    stdout: Buffer;
    stderr: string;
  }>((done) => {
    const child = execFile('git', [...settings, ...args], options, (failure, stdout, stderr) =>
      done({ error: failure, stdout, stderr: stderr.toString('utf8').trim() }),
    );
    // Git may exit before it has read all input; its exit code says whether it failed.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
  const code = error?.code ?? 0;
  if (typeof code === 'number' && (error === null || allow.includes(code)))
    return { ...result, code };
  if (code === 'ENOENT' && existsSync(folder)) {
    const hint = 'Install git: https://git-scm.com/downloads';
    throw new UserError('git_missing', 'git is not installed, or not in the PATH.', { hint });
  }
  throw gitError(
    `${commandOf(args)} failed in ${folder}: ${result.stderr === '' ? errorMessage(error) : result.stderr}`,
  );
}

/** The command, after the settings of this call. */
function commandOf(args: readonly string[]): string {
  return args.find((word, index) => !word.startsWith('-') && args[index - 1] !== '-c') ?? '';
}

/** What git prints, trimmed. */
export async function gitOutput(
  folder: string,
  args: readonly string[],
  call: GitOptions = {},
): Promise<string> {
  return (await git(folder, args, call)).stdout.toString('utf8').trim();
}

/** The filters that the settings of the repository and of the person define. */
export async function configuredFilters(folder: string): Promise<readonly string[]> {
  const { stdout } = await git(folder, ['config', '--list', '-z', '--name-only']);
  const keys = stdout.toString('utf8').split('\0');
  const filterKey = /^filter\.([^]+)\.(?:clean|smudge|process|required)$/;
  return [...new Set(keys.flatMap((key) => filterKey.exec(key)?.[1] ?? []))];
}

function gitError(what: string): UserError {
  const retryable = what.includes('.lock');
  const hint = retryable
    ? 'Another git command is running or was killed. Try again; if it still fails, remove the lock file that is named.'
    : 'Follow git’s message, or run the command yourself to see more.';
  return new UserError('git_failed', `git ${what}`, { hint, retryable });
}

/**
 * The repository whose working tree contains the project; undefined if there is none, or if it
 * ignores the project.
 */
export async function findRepository(dir: string): Promise<Repository | undefined> {
  const found = await git(
    dir,
    ['rev-parse', '--show-toplevel', '--absolute-git-dir', '--git-common-dir', '--show-prefix'],
    { allow: [128] },
  );
  if (/not a git repository|must be run in a work tree/.test(found.stderr)) return undefined;
  if (found.code !== 0) throw gitError(`cannot use the repository of ${dir}: ${found.stderr}`);
  const [root = '', gitDir = '', common = '', prefix = ''] = found.stdout
    .toString('utf8')
    .split('\n');
  requireOwnTree(dir, root);
  if (
    prefix !== '' &&
    (await git(root, ['check-ignore', '-q', '--', prefix], { allow: [1] })).code === 0
  )
    return undefined;
  // Git answers relative to the folder without links.
  return { root, gitDir, commonDir: resolve(realpathSync.native(dir), common), prefix };
}

/**
 * A repository can name any folder as its working tree. It is one only if the project is in it and
 * it leads to the repository.
 */
function requireOwnTree(dir: string, root: string): void {
  const isAbove = isInside(realpathSync.native(dir), realpathSync.native(root));
  if (isAbove && existsSync(join(root, '.git'))) return;
  throw new UserError('git_tree_elsewhere', `The repository of ${dir} has its files in ${root}.`, {
    hint: `Look at core.worktree in its settings: git -C ${JSON.stringify(dir)} config --show-origin core.worktree`,
    exitCode: 2,
  });
}

/** Like `findRepository`, but creates a repository in `dir` if there is none. */
export async function openRepository(dir: string): Promise<Repository> {
  const found = await findRepository(dir);
  if (found !== undefined) return found;
  await git(dir, ['init', '--quiet']);
  const made = await findRepository(dir);
  if (made === undefined) throw gitError(`did not create a repository in ${dir}.`);
  return made;
}

/** The commit of HEAD; undefined on a branch without commits. */
export async function headCommit({ root }: Repository): Promise<string | undefined> {
  return (
    (await gitOutput(root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], {
      allow: [1],
    })) || undefined
  );
}

/**
 * The merge, rebase or similar that the person has not finished. A commit now would become part of
 * it.
 */
export function unfinishedGitOperation({ gitDir }: Repository): string | undefined {
  const marks = [
    ['MERGE_HEAD', 'merge'],
    ['rebase-merge', 'rebase'],
    ['rebase-apply', 'rebase'],
    ['CHERRY_PICK_HEAD', 'cherry-pick'],
    ['REVERT_HEAD', 'revert'],
    ['BISECT_LOG', 'bisect'],
  ] as const;
  return marks.find(([file]) => existsSync(join(gitDir, file)))?.[1];
}

/**
 * The project's files in `folders` at a commit: text by path. A file that is not UTF-8 has a text
 * that is not well-formed.
 */
export async function readFilesAtCommit(
  { root, prefix }: Repository,
  commit: string,
  folders: readonly string[],
): Promise<Map<string, string>> {
  const listed = await git(root, [
    'ls-tree',
    '-r',
    '-z',
    '--full-tree',
    commit,
    '--',
    ...folders.map((folder) => prefix + folder),
  ]);
  const entries = [
    ...listed.stdout.toString('utf8').matchAll(/1[02]0\d{3} blob ([0-9a-f]+)\t([^\0]+)\0/g),
  ];
  const input = entries.map(([, id]) => `${id}\n`).join('');
  const { stdout } = await git(root, ['cat-file', '--batch'], { input });
  const files = new Map<string, string>();
  let offset = 0;
  for (const [, , path = ''] of entries) {
    const start = stdout.indexOf('\n', offset) + 1;
    const size = Number(stdout.toString('latin1', offset, start).split(' ')[2]);
    const bytes = stdout.subarray(start, start + size);
    files.set(path.slice(prefix.length), isUtf8(bytes) ? bytes.toString('utf8') : '\uD800');
    offset = start + size + 1;
  }
  return files;
}

/** The paths that an ignore rule keeps out of git. A tracked file is never ignored. */
export async function ignoredPaths(
  { root, prefix }: Repository,
  paths: readonly string[],
): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  const input = paths.map((path) => `${prefix}${path}\0`).join('');
  const { stdout } = await git(root, ['check-ignore', '-z', '--stdin'], { input, allow: [1] });
  const found = stdout.toString('utf8').split('\0').slice(0, -1);
  return new Set(found.map((path) => path.slice(prefix.length)));
}
