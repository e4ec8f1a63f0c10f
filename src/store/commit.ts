import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureStateDirectory } from './directories.ts';
import { readText } from './files.ts';
import { git, gitOutput, headCommit, type Repository } from './git.ts';

/** A file of the project as the commit shall have it; `text` undefined removes it. */
interface FileChange {
  readonly path: string;
  readonly text: string | undefined;
  /** The file on disk has this text: git reads it from there, as a normal add does. */
  readonly onDisk: boolean;
}

interface CommitRequest {
  /** The commit that the changes were made for; undefined for a first one. */
  readonly parent: string | undefined;
  readonly changes: readonly FileChange[];
  /** One line. */
  readonly message: string;
  readonly runId: string;
}

type CommitOutcome =
  | { readonly kind: 'committed'; readonly commit: string }
  /** The tree is the parent's already; or HEAD or a file moved meanwhile: read again and start over. */
  | { readonly kind: 'unchanged' | 'raced' };

type Environment = Readonly<Record<string, string>>;

/**
 * Commits the changes on top of `parent` and moves HEAD there if it still is `parent`. Works in an index of its own: what
 * the person has staged or changed is neither read nor written. No hook runs, nothing is signed. The caller holds the
 * project's lock.
 */
export async function commitFiles(
  repository: Repository,
  dir: string,
  request: CommitRequest,
): Promise<CommitOutcome> {
  const { root } = repository;
  const { parent, message, runId } = request;
  const indexFile = join(ensureStateDirectory(dir).state, 'commit-index');
  const removeIndex = () =>
    ['', '.lock'].forEach((suffix) => rmSync(indexFile + suffix, { force: true }));
  removeIndex();
  const env = { GIT_INDEX_FILE: indexFile };
  try {
    await git(root, ['read-tree', parent ?? '--empty'], { env });
    if (!(await stage(repository, request, env))) return { kind: 'raced' };
    const tree = await gitOutput(root, ['write-tree'], { env });
    if (parent !== undefined && tree === (await gitOutput(root, ['rev-parse', `${parent}^{tree}`])))
      return { kind: 'unchanged' };
    const parents = parent === undefined ? [] : ['-p', parent];
    const commit = await commitTree(root, [tree, ...parents], `${message}\n\nKtx-Run: ${runId}\n`);
    writeFileSync(pendingFile(dir), commit);
    // Compares and swaps; an empty old value says that there was no commit.
    await git(root, ['update-ref', '-m', message, 'HEAD', commit, parent ?? '']);
    return { kind: 'committed', commit };
  } catch (error) {
    if ((await headCommit(repository)) !== parent) return { kind: 'raced' };
    throw error;
  } finally {
    removeIndex();
  }
}

/** Puts the changes into the index that `env` names; false where a file changed while git read it. */
async function stage(
  { root, prefix }: Repository,
  { parent = '', changes }: CommitRequest,
  env: Environment,
): Promise<boolean> {
  const add = changes
    .filter((change) => change.onDisk && change.text !== undefined)
    .map(({ path }) => `${prefix}${path}\0`);
  if (add.length > 0)
    await git(root, ['update-index', '--add', '-z', '--stdin'], { env, input: add.join('') });
  // In the place of an object's id: remove the entry. Only a parent has entries, and ids as long as its own.
  const noObject = '0'.repeat(parent.length);
  let entries = '';
  for (const { path, text: input, onDisk: isOnDisk } of changes) {
    if (input === undefined && parent !== '') entries += `0 ${noObject}\t${prefix}${path}\0`;
    if (input === undefined) continue;
    if (isOnDisk && (await readText(join(root, prefix, path))) !== input) return false;
    if (isOnDisk) continue;
    const id = await gitOutput(root, ['hash-object', '-w', '--stdin', '--path', prefix + path], {
      input,
    });
    entries += `100644 ${id}\t${prefix}${path}\0`;
  }
  if (entries !== '')
    await git(root, ['update-index', '-z', '--index-info'], { env, input: entries });
  return true;
}

/** In the person's own name; in ktx's where git knows none (it would invent one from the machine's name). */
async function commitTree(root: string, args: readonly string[], input: string): Promise<string> {
  const commit = async (identity: readonly string[], allow: readonly number[]) =>
    gitOutput(root, [...identity, 'commit-tree', ...args, '-F', '-'], { input, allow });
  const own = await commit(['-c', 'user.useConfigOnly=true'], [128]);
  return own || commit(['-c', 'user.name=ktx', '-c', 'user.email=ktx@localhost'], []);
}

/** Names the commit whose entries the person's index does not have yet: written before HEAD moves, gone once they are there. */
function pendingFile(dir: string): string {
  return join(ensureStateDirectory(dir).state, 'index-pending');
}

/**
 * Where HEAD is a commit of ktx's that the person's index does not know yet: brings the index's entries from what the parent
 * has to what that commit has. An entry that is not as in the parent, or missing though the parent has it, is staged by the
 * person and stays. Once done, the commit is done with: what the person stages later, a deletion of a new file too, is never
 * touched. Completes a run that was killed. False where another git process holds the index.
 */
export async function refreshIndex({ root }: Repository, dir: string): Promise<boolean> {
  const pending = pendingFile(dir);
  const commit = existsSync(pending) ? readFileSync(pending, 'utf8').trim() : '';
  if (commit === '') return true;
  const [head, parent] = (
    await gitOutput(root, ['rev-list', '--parents', '-n', '1', 'HEAD'], { allow: [128] })
  ).split(' ');
  if (commit === head) {
    const before = parent ?? (await gitOutput(root, ['hash-object', '-t', 'tree', '--stdin']));
    const compare = async (args: readonly string[]) =>
      (await git(root, [...args, '--no-renames', '-z'])).stdout.toString('utf8');
    const staged = new Set(
      (await compare(['diff-index', '--cached', '--name-only', before])).split('\0'),
    );
    const moved = (await compare(['diff-tree', '-r', before, commit])).matchAll(
      /:\d+ (\d+) \w+ (\w+) \w\0([^\0]+)\0/g,
    );
    const stale = [...moved].filter(([, , , path = '']) => !staged.has(path));
    const input = stale.map(([, mode, id, path]) => `${mode} ${id}\t${path}\0`).join('');
    const updated = await git(root, ['update-index', '-z', '--index-info'], {
      input,
      allow: [128],
    });
    if (updated.code !== 0) return false;
  }
  rmSync(pending, { force: true });
  // Stat data, so that the next `git status` need not read the files; exit code 1 says that some differ.
  await git(root, ['update-index', '-q', '--refresh'], { allow: [1, 128] });
  return true;
}
