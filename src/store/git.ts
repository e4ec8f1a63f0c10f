import { isUtf8 } from 'node:buffer';
import { execFile, type ExecFileException } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, UserError } from '../lib/error.ts';

/** A git working tree, seen from a project inside it. Paths given to the functions of this room are the project's own. */
export interface Repository {
  /** Absolute path of the working tree. */
  readonly root: string;
  /** The working tree's own git folder (a linked worktree has its own). */
  readonly gitDir: string;
  /** Where the project lies in it: empty, or a path that ends in `/`. */
  readonly prefix: string;
}

interface GitCall {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Exit codes other than 0 that are an answer. */
  readonly allow?: readonly number[];
}

/** Settings of a person that must not run, sign or rewrite anything when ktx commits. */
const overrides = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'commit.gpgSign=false',
  '-c',
  'gc.auto=0',
  '-c',
  'maintenance.auto=false',
  '-c',
  'i18n.commitEncoding=UTF-8',
  '-c',
  'advice.defaultBranchName=false',
  '-c',
  'core.safecrlf=false',
] as const;

/** What a surrounding git process (a hook that runs ktx) sets to point elsewhere. */
const foreign = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_COMMON_DIR',
  'GIT_PREFIX',
  'GIT_NAMESPACE',
];

/** Runs git in `folder`. A missing binary is `git_missing`; an unexpected exit code is `git_failed` with git's own words. */
export async function git(
  folder: string,
  args: readonly string[],
  { input = '', env = {}, allow = [], signal }: GitCall = {},
) {
  const kept = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !foreign.includes(name)),
  );
  const options = {
    cwd: folder,
    env: { ...kept, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...env },
    encoding: 'buffer',
    maxBuffer: 2 ** 31 - 1,
    signal,
  } as const;
  const { error, ...result } = await new Promise<{
    error: ExecFileException | null;
    stdout: Buffer;
    stderr: string;
  }>((done) => {
    const child = execFile('git', [...overrides, ...args], options, (failure, stdout, stderr) =>
      done({ error: failure, stdout, stderr: stderr.toString('utf8').trim() }),
    );
    // Git may end without reading all of its input; its exit code tells.
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
  throw gitFailed(
    `${args[0] ?? ''} failed in ${folder}: ${result.stderr === '' ? errorMessage(error) : result.stderr}`,
  );
}

/** What git prints, without the line's end. */
export async function gitOutput(
  folder: string,
  args: readonly string[],
  call: GitCall = {},
): Promise<string> {
  return (await git(folder, args, call)).stdout.toString('utf8').trim();
}

function gitFailed(what: string): UserError {
  const retryable = what.includes('.lock');
  const hint = retryable
    ? 'Another git command is running, or was killed; try again, then remove the lock file that is named.'
    : 'Do what git says, or run the command by hand to see more.';
  return new UserError('git_failed', `git ${what}`, { hint, retryable });
}

/** The repository whose working tree holds the project and does not ignore it; undefined where there is none. */
export async function findRepository(dir: string): Promise<Repository | undefined> {
  const found = await git(
    dir,
    ['rev-parse', '--show-toplevel', '--absolute-git-dir', '--show-prefix'],
    { allow: [128] },
  );
  if (/not a git repository|must be run in a work tree/.test(found.stderr)) return undefined;
  if (found.code !== 0) throw gitFailed(`cannot use the repository of ${dir}: ${found.stderr}`);
  const [root = '', gitDir = '', prefix = ''] = found.stdout.toString('utf8').split('\n');
  if (
    prefix !== '' &&
    (await git(root, ['check-ignore', '-q', '--', prefix], { allow: [1] })).code === 0
  )
    return undefined;
  return { root, gitDir, prefix };
}

/** As `findRepository`; makes one in `dir` where there is none. */
export async function openRepository(dir: string): Promise<Repository> {
  const found = await findRepository(dir);
  if (found !== undefined) return found;
  await git(dir, ['init', '--quiet']);
  const made = await findRepository(dir);
  if (made === undefined) throw gitFailed(`made no repository in ${dir}.`);
  return made;
}

/** The commit that HEAD means; undefined on a branch without one. */
export async function headCommit({ root }: Repository): Promise<string | undefined> {
  return (
    (await gitOutput(root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { allow: [1] })) ||
    undefined
  );
}

/** What the person is in the middle of; a commit now would become part of it. */
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

/** Of the project's files below `folders` at a commit: path → text, as git stores it; no UTF-8 is a text that is not well-formed. */
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

/** Those of the project's paths that an ignore rule keeps out of git; a tracked file is never ignored. */
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
