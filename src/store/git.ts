import { isUtf8 } from 'node:buffer';
import { execFile, type ExecFileException } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errorMessage, UserError } from '../lib/error.ts';
import { isInside, readConfinedFileSync } from './confined-file.ts';
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
  /** HEAD when the repository was found; undefined on a branch without commits. */
  readonly head: { readonly commit: string; readonly tree: string } | undefined;
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

/** Larger files are read from git. */
const maxHashedBytes = 10_000_000;
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
  const said = result.stderr === '' ? errorMessage(error) : result.stderr;
  throw gitError(`${commandOf(args)} failed in ${folder}: ${said}`);
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

interface GitSetting {
  /** `command` for those that ktx gives to every call. */
  readonly scope: string;
  readonly key: string;
  readonly value: string;
}

const knownSettings = new WeakMap<Repository, Promise<readonly GitSetting[]>>();

/**
 * The settings of the repository and of the person, in git's order: the last of a key counts. Read
 * once for each object that `findRepository` returns.
 */
export function readSettings(repository: Repository): Promise<readonly GitSetting[]> {
  const settings = knownSettings.get(repository) ?? listSettings(repository);
  knownSettings.set(repository, settings);
  return settings;
}

async function listSettings({ root }: Repository): Promise<readonly GitSetting[]> {
  const { stdout } = await git(root, ['config', '--list', '-z', '--show-scope']);
  const parts = stdout.toString('utf8').split('\0');
  const settings: GitSetting[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [key = '', ...value] = (parts[index + 1] ?? '').split('\n');
    settings.push({ scope: parts[index] ?? '', key, value: value.join('\n') });
  }
  return settings;
}

/** The filters that the settings of the repository and of the person define. */
export async function configuredFilters(repository: Repository): Promise<readonly string[]> {
  const settings = await readSettings(repository);
  const filterKey = /^filter\.([^]+)\.(?:clean|smudge|process|required)$/;
  return [...new Set(settings.flatMap(({ key }) => filterKey.exec(key)?.[1] ?? []))];
}

function gitError(what: string): UserError {
  const retryable = what.includes('.lock');
  const hint = retryable
    ? 'Another git command is running or was killed. Try again; if it still fails, remove the ' +
      'lock file that is named.'
    : 'Follow git’s message, or run the command yourself to see more.';
  return new UserError('git_failed', `git ${what}`, { hint, retryable });
}

/** A line for each; the last two print nothing on a branch without commits. */
const repositoryParts = [
  '--show-toplevel',
  '--absolute-git-dir',
  '--git-common-dir',
  '--show-prefix',
  '--revs-only',
  'HEAD^{commit}',
  'HEAD^{tree}',
];

/**
 * The repository whose working tree contains the project; undefined if there is none, or if it
 * ignores the project.
 */
export async function findRepository(dir: string): Promise<Repository | undefined> {
  const found = await git(dir, ['rev-parse', ...repositoryParts], { allow: [128] });
  if (/not a git repository|must be run in a work tree/.test(found.stderr)) return undefined;
  if (found.code !== 0) throw gitError(`cannot use the repository of ${dir}: ${found.stderr}`);
  const [root = '', gitDir = '', common = '', prefix = '', commit = '', tree = ''] = found.stdout
    .toString('utf8')
    .split('\n');
  requireOwnTree(dir, root);
  requireOwnRepository(root, gitDir);
  if (
    prefix !== '' &&
    (await git(root, ['check-ignore', '-q', '--', prefix], { allow: [1] })).code === 0
  )
    return undefined;
  // Git answers relative to the folder without links.
  const commonDir = resolve(realpathSync.native(dir), common);
  return { root, gitDir, commonDir, prefix, head: tree === '' ? undefined : { commit, tree } };
}

/**
 * A repository can name any folder as its working tree. It is one only if the project is in it and
 * it leads to the repository.
 */
function requireOwnTree(dir: string, root: string): void {
  const isAbove = isInside(realpathSync.native(dir), realpathSync.native(root));
  if (isAbove && existsSync(join(root, '.git'))) return;
  throw new UserError('git_tree_elsewhere', `The repository of ${dir} has its files in ${root}.`, {
    hint:
      'Look at core.worktree in its settings: ' +
      `git -C ${JSON.stringify(dir)} config --show-origin core.worktree`,
    exitCode: 2,
  });
}

/**
 * A file `.git` can name the repository of any other folder: what ktx commits would land there.
 * Those of linked worktrees and submodules have other names than `.git`.
 */
function requireOwnRepository(root: string, gitDir: string): void {
  if (basename(gitDir) !== '.git') return;
  const owner = realpathSync.native(dirname(gitDir));
  if (owner === realpathSync.native(root)) return;
  throw new UserError('git_tree_elsewhere', `${root} uses the repository of ${owner}.`, {
    hint: `Look at the file ${join(root, '.git')}, and remove it if you do not know it.`,
    exitCode: 2,
  });
}

/** Like `findRepository`, but creates a repository in `dir` if there is none. */
export async function openRepository(dir: string): Promise<Repository> {
  const found = await findRepository(dir);
  if (found !== undefined) return found;
  requireNoHistory(dir);
  await git(dir, ['init', '--quiet']);
  const made = await findRepository(dir);
  if (made === undefined) throw gitError(`did not create a repository in ${dir}.`);
  return made;
}

/**
 * Git takes a folder `.git` without HEAD for no repository, and would begin a new one on top of
 * what is left of the old one. An interrupted `git init` leaves no objects and no branches.
 */
function requireNoHistory(dir: string): void {
  const folder = join(dir, '.git');
  const isLeft = (path: string): boolean => {
    const entry = lstatSync(join(folder, path), { throwIfNoEntry: false });
    if (entry?.isDirectory() !== true) return entry !== undefined;
    return readdirSync(join(folder, path)).some((name) => name !== 'info' && name !== 'pack');
  };
  const left = ['objects', 'objects/pack', 'refs/heads', 'packed-refs'].find(isLeft);
  if (left === undefined) return;
  throw new UserError(
    'git_damaged',
    `${folder} has ${left}, but is no repository that git opens.`,
    {
      hint: `Look at ${join(folder, 'HEAD')}: a text like "ref: refs/heads/main". ktx does not begin a new repository over it.`,
      exitCode: 2,
    },
  );
}

/** The commit of HEAD; undefined on a branch without commits. */
export function headCommit(repository: Repository): Promise<string | undefined> {
  return commitOf(repository, 'HEAD');
}

/** The commit of a ref; undefined if it has none. */
export async function commitOf({ root }: Repository, ref: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`];
  return (await gitOutput(root, args, { allow: [1] })) || undefined;
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

interface CommittedFiles {
  readonly commit: string;
  /** Relative to the project. */
  readonly folders: readonly string[];
  /** Texts that were read already, by path. One that is the committed blob is not read again. */
  readonly known?: ReadonlyMap<string, string>;
}

/**
 * The project's files in `folders` at a commit: text by path. A file that is not UTF-8 has a text
 * that is not well-formed.
 */
export async function readFilesAtCommit(
  { root, prefix }: Repository,
  { commit, folders, known }: CommittedFiles,
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
  const entries = listed.stdout
    .toString('utf8')
    .matchAll(/1[02]0\d{3} blob ([0-9a-f]+)\t([^\0]+)\0/g)
    .map(([, id = '', path = '']) => {
      const name = path.slice(prefix.length);
      const text = known?.get(name);
      const found = isBlob(text, id) ? text : readIfCommitted(root, path, id);
      return { id, name, found };
    })
    .toArray();
  const missing = entries.filter(({ found }) => found === undefined);
  const blobs = await readBlobs(root, new Set(missing.map(({ id }) => id)));
  return new Map(
    entries.map(({ id, name, found = blobs.get(id) ?? Buffer.alloc(0) }) => [
      name,
      typeof found === 'string' ? found : decodeBlob(found),
    ]),
  );
}

function decodeBlob(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : '\uD800';
}

/** True if the text is the blob of this id. That of a file that could not be read never is. */
function isBlob(text: string | undefined, id: string): text is string {
  return text?.isWellFormed() === true && blobId(Buffer.from(text), id.length) === id;
}

function blobId(bytes: Buffer, length: number): string {
  const hash = createHash(length === 40 ? 'sha1' : 'sha256');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/**
 * The file on disk if it is the blob of this id. Most files are as they are committed, and then git
 * need not be asked for them.
 */
function readIfCommitted(root: string, path: string, id: string): Buffer | undefined {
  const file = readConfinedFileSync(join(root, path), { within: root, maxBytes: maxHashedBytes });
  if (file.kind !== 'read') return undefined;
  return blobId(file.bytes, id.length) === id ? file.bytes : undefined;
}

/** The blobs by id; no process is started for none. */
async function readBlobs(root: string, ids: ReadonlySet<string>): Promise<Map<string, Buffer>> {
  const blobs = new Map<string, Buffer>();
  if (ids.size === 0) return blobs;
  const input = [...ids].map((id) => `${id}\n`).join('');
  const { stdout } = await git(root, ['cat-file', '--batch'], { input });
  let offset = 0;
  for (const id of ids) {
    const start = stdout.indexOf('\n', offset) + 1;
    const size = Number(stdout.toString('latin1', offset, start).split(' ')[2]);
    blobs.set(id, stdout.subarray(start, start + size));
    offset = start + size + 1;
  }
  return blobs;
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
