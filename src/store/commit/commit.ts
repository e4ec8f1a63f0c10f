import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import type { CommitTarget } from './commit-target.ts';
import { ensureStateDirectory } from '../directories.ts';
import { readTextOrNothing, readTextSync } from '../files.ts';
import { commitOf, configuredFilters, git, gitOutput, type Repository } from '../git.ts';
import { privateFileMode } from '../ownership/private-files.ts';

/** One file in the commit. */
interface FileChange {
  readonly path: string;
  /** Undefined removes the file. */
  readonly text: string | undefined;
  /**
   * True if the file on disk has this text. Git then reads it from there, like a normal `git add`.
   */
  readonly onDisk: boolean;
}

interface CommitRequest {
  readonly target: CommitTarget;
  readonly changes: readonly FileChange[];
  /** One line. */
  readonly message: string;
  readonly runId: string;
  /** Who asked for it, if not the person of this machine; ktx then is the committer. */
  readonly author?: string | undefined;
}

type CommitOutcome =
  | {
      readonly kind: 'committed';
      readonly commit: string;
      /** True if git knows no name of the person, and the commit before was not in that of ktx. */
      readonly isFirstUnnamed: boolean;
    }
  /**
   * `unchanged`: the parent has this tree already. `raced`: the branch or a file has changed; read
   * again and start over.
   */
  | { readonly kind: 'unchanged' | 'raced' };

type Environment = Readonly<Record<string, string>>;

/**
 * Commits the changes on top of the base of `target`, and moves its ref there if nobody else has
 * moved it. Uses an index of its own, so that a person's staged and unstaged changes are neither
 * read nor written. Runs no hooks and signs nothing. The caller holds the project's lock.
 */
export async function commitFiles(
  repository: Repository,
  dir: string,
  request: CommitRequest,
): Promise<CommitOutcome> {
  const { root } = repository;
  const { target, message, runId, author } = request;
  const parent = target.base?.commit;
  const indexFile = join(ensureStateDirectory(dir).state, 'commit-index');
  const removeIndex = () =>
    ['', '.lock'].forEach((suffix) => rmSync(indexFile + suffix, { force: true }));
  removeIndex();
  const env = { GIT_INDEX_FILE: indexFile };
  try {
    await git(root, ['read-tree', parent ?? '--empty'], { env });
    if (!(await stageChanges(repository, request, env))) return { kind: 'raced' };
    const tree = await gitOutput(root, ['write-tree'], { env });
    if (parent !== undefined && tree === target.base?.tree) return { kind: 'unchanged' };
    const parents = parent === undefined ? [] : ['-p', parent];
    const args = [tree, ...parents];
    const input = `${message}\n\nKtx-Run: ${runId}\n`;
    const { commit, isUnnamed } = await commitTree(root, args, { input, author });
    if (target.ref === 'HEAD') writeFileSync(pendingFile(dir), commit, { mode: privateFileMode });
    // Compare and swap. An empty old value means that there was no commit.
    await git(root, ['update-ref', '-m', message, target.ref, commit, target.tip ?? '']);
    const isFirstUnnamed = isUnnamed && (await authorAddress(root, parent)) !== ownAddress;
    return { kind: 'committed', commit, isFirstUnnamed };
  } catch (error) {
    if ((await commitOf(repository, target.ref)) !== target.tip) return { kind: 'raced' };
    throw error;
  } finally {
    removeIndex();
  }
}

/** Adds the changes to the index that `env` names. False if a file changed while git read it. */
async function stageChanges(
  repository: Repository,
  { target, changes }: CommitRequest,
  env: Environment,
): Promise<boolean> {
  const parent = target.base?.commit ?? '';
  const filters = await configuredFilters(repository);
  await requireNoFilter(repository, changes, filters);
  const { root, prefix } = repository;
  const pathsOnDisk = changes
    .filter((change) => change.onDisk && change.text !== undefined)
    .map(({ path }) => `${prefix}${path}\0`);
  if (pathsOnDisk.length > 0)
    await git(root, ['update-index', '--add', '-z', '--stdin'], {
      env,
      filters,
      input: pathsOnDisk.join(''),
    });
  // Removes an entry when it stands for an object id. Ids have the length of the parent's.
  const zeroId = '0'.repeat(parent.length);
  let entries = '';
  for (const { path, text: input, onDisk: isOnDisk } of changes) {
    if (input === undefined && parent !== '') entries += `0 ${zeroId}\t${prefix}${path}\0`;
    if (input === undefined) continue;
    if (isOnDisk && readTextSync(join(root, prefix, path)) !== input) return false;
    if (isOnDisk) continue;
    const id = await gitOutput(root, ['hash-object', '-w', '--stdin', '--path', prefix + path], {
      input,
      filters,
    });
    entries += `100644 ${id}\t${prefix}${path}\0`;
  }
  if (entries !== '')
    await git(root, ['update-index', '-z', '--index-info'], { env, input: entries });
  return true;
}

/**
 * A filter is a program that a repository names, and ktx runs none. Files that go through one
 * (git-crypt, Git LFS) must not be committed without it: throws `git_filter`.
 */
async function requireNoFilter(
  { root, prefix }: Repository,
  changes: readonly FileChange[],
  filters: readonly string[],
): Promise<void> {
  if (filters.length === 0) return;
  const written = changes.filter(({ text }) => text !== undefined);
  const input = written.map(({ path }) => `${prefix}${path}\0`).join('');
  const { stdout } = await git(root, ['check-attr', '-z', '--stdin', 'filter'], { input });
  // Path, attribute and value, each with a NUL.
  const fields = stdout.toString('utf8').split('\0');
  const value = fields.findIndex((field, index) => index % 3 === 2 && filters.includes(field));
  if (value === -1) return;
  const [path = '', , filter = ''] = fields.slice(value - 2, value + 1);
  throw new UserError('git_filter', `git would pass ${path} through the filter ${filter}.`, {
    hint: `ktx runs no filters. Exclude its folders in .gitattributes: ${dirname(path)}/** !filter`,
    exitCode: 2,
  });
}

/**
 * Commits in the person's name. If git has none configured, ktx commits in its own: git would
 * invent one from the machine's name.
 */
async function commitTree(
  root: string,
  args: readonly string[],
  { input, author }: { readonly input: string; readonly author: string | undefined },
): Promise<{ readonly commit: string; readonly isUnnamed: boolean }> {
  const commitAs = async (identity: readonly string[], allow: readonly number[], env = {}) =>
    gitOutput(root, [...identity, 'commit-tree', ...args, '-F', '-'], { input, allow, env });
  const named = (commit: string) => ({ commit, isUnnamed: false });
  if (author !== undefined) return named(await commitAs([], [], identityOf(author)));
  const own = await commitAs(['-c', 'user.useConfigOnly=true'], [128]);
  if (own !== '') return named(own);
  const ofKtx = ['-c', 'user.name=ktx', '-c', `user.email=${ownAddress}`];
  return { commit: await commitAs(ofKtx, []), isUnnamed: true };
}

async function authorAddress(root: string, commit: string | undefined): Promise<string> {
  if (commit === undefined) return '';
  return gitOutput(root, ['log', '-1', '--no-show-signature', '--format=%ae', commit, '--']);
}

const ownAddress = 'ktx@localhost';

/** Git takes these before all settings. The address of a person is nobody's business. */
function identityOf(author: string): Environment {
  return {
    GIT_AUTHOR_NAME: author,
    GIT_AUTHOR_EMAIL: ownAddress,
    GIT_COMMITTER_NAME: 'ktx',
    GIT_COMMITTER_EMAIL: ownAddress,
  };
}

/**
 * Has the id of the commit that the person's index does not know yet. Written before HEAD moves;
 * removed when the index is up to date.
 */
function pendingFile(dir: string): string {
  return join(ensureStateDirectory(dir).state, 'index-pending');
}

/** True if a run made a commit and ended before the person's index knew it. */
export function hasPendingIndex(dir: string): boolean {
  return existsSync(pendingFile(dir));
}

/**
 * If HEAD is a commit of ktx that the person's index does not know yet, updates the index entries
 * from the parent's state to the commit's. Entries that differ from the parent were staged by the
 * person and stay. Each commit is handled once: changes that the person stages later are never
 * touched. Also completes a run that was killed. `made` is the commit that the caller has just
 * made. False if another git process holds the index.
 */
export async function refreshIndex(
  repository: Repository,
  dir: string,
  made?: { readonly commit: string; readonly parent: string | undefined },
): Promise<boolean> {
  const { root } = repository;
  const pending = pendingFile(dir);
  const commit = readTextOrNothing(pending, dir).trim();
  if (commit === '') return true;
  const head = made ?? (await headWithParent(root));
  if (commit === head.commit) {
    const { parent } = head;
    const base = parent ?? (await gitOutput(root, ['hash-object', '-t', 'tree', '--stdin']));
    const compare = async (args: readonly string[]) =>
      (await git(root, [...args, '--no-renames', '-z'])).stdout.toString('utf8');
    const staged = new Set(
      (await compare(['diff-index', '--cached', '--name-only', base])).split('\0'),
    );
    const changed = (await compare(['diff-tree', '-r', base, commit])).matchAll(
      /:\d+ (\d+) \w+ (\w+) \w\0([^\0]+)\0/g,
    );
    const stale = [...changed].filter(([, , , path = '']) => !staged.has(path));
    const input = stale.map(([, mode, id, path]) => `${mode} ${id}\t${path}\0`).join('');
    const updated = await git(root, ['update-index', '-z', '--index-info'], {
      input,
      allow: [128],
    });
    if (updated.code !== 0) return false;
  }
  rmSync(pending, { force: true });
  // Refreshes stat data, so that the next `git status` need not read the files. Exit code 1 means
  // that some files differ.
  await git(root, ['update-index', '-q', '--refresh'], {
    allow: [1, 128],
    filters: await configuredFilters(repository),
  });
  return true;
}

/** The commit is empty on a branch without commits. */
async function headWithParent(root: string) {
  const args = ['rev-list', '--parents', '-n', '1', 'HEAD'];
  const [commit = '', parent] = (await gitOutput(root, args, { allow: [128] })).split(' ');
  return { commit, parent };
}
