import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureStateDirectory } from './directories.ts';
import { git, type GitCall, headCommit, type Repository } from './git.ts';

/** A file of the project as the commit shall have it; `text` undefined removes it. */
export interface FileChange {
  readonly path: string;
  readonly text: string | undefined;
  /** The file on disk has this text: git reads it from there, with the filters and the stat data of a normal add. */
  readonly onDisk: boolean;
}

export interface CommitRequest {
  /** The commit that the changes were made for; undefined for a first one. */
  readonly parent: string | undefined;
  readonly changes: readonly FileChange[];
  readonly message: string;
  readonly runId: string;
}

export type CommitOutcome =
  | { readonly kind: 'committed'; readonly commit: string }
  /** The tree is the parent's already. */
  | { readonly kind: 'unchanged' }
  /** HEAD moved meanwhile; read it again and start over. */
  | { readonly kind: 'raced' };

/**
 * Commits the changes on top of `parent` and moves HEAD there if it still is `parent`. Works in an index of its own: what
 * the person has staged or changed is neither read nor written. No hook runs, nothing is signed. The caller holds the
 * project's lock.
 */
export async function commitFiles(repository: Repository, dir: string, request: CommitRequest): Promise<CommitOutcome> {
  const indexFile = join(ensureStateDirectory(dir).state, 'commit-index');
  for (const suffix of ['', '.lock']) rmSync(indexFile + suffix, { force: true });
  try {
    const env = { GIT_INDEX_FILE: indexFile };
    const { root } = repository;
    await git(root, ['read-tree', ...(request.parent === undefined ? ['--empty'] : [request.parent])], { env });
    await stage(repository, request.changes, env);
    const tree = await line(root, ['write-tree'], { env });
    if (request.parent !== undefined && tree === (await line(root, ['rev-parse', `${request.parent}^{tree}`])))
      return { kind: 'unchanged' };
    const parents = request.parent === undefined ? [] : ['-p', request.parent];
    const input = `${request.message}\n\nKtx-Run: ${request.runId}\n`;
    const commit = await line(root, ['commit-tree', tree, ...parents, '-F', '-'], { input, env: await identity(root) });
    return (await moveHead(repository, request, commit)) ? { kind: 'committed', commit } : { kind: 'raced' };
  } finally {
    for (const suffix of ['', '.lock']) rmSync(indexFile + suffix, { force: true });
  }
}

async function moveHead(repository: Repository, request: CommitRequest, commit: string): Promise<boolean> {
  const subject = request.message.split('\n')[0] ?? '';
  const old = request.parent ?? commit.replaceAll(/./g, '0');
  const moved = await git(repository.root, ['update-ref', '-m', `ktx: ${subject}`, 'HEAD', commit, old], {
    allow: [1, 128],
  });
  if (moved.code === 0) return true;
  if ((await headCommit(repository)) !== request.parent) return false;
  // Not a race of commits: someone else's lock on the ref, or a repository that cannot be written.
  await git(repository.root, ['update-ref', '-m', `ktx: ${subject}`, 'HEAD', commit, old]);
  return true;
}

/**
 * Brings the entries below `folders` in the person's index from what `before` has to what HEAD has. An entry that is neither
 * is staged by the person, and stays. Does nothing where the entries are right already, so it may run again. False where
 * another git process holds the index.
 */
export async function refreshIndex(repository: Repository, before: string | undefined, folders: readonly string[]): Promise<boolean> {
  const head = await headCommit(repository);
  if (head === undefined || head === before) return true;
  const { root, prefix } = repository;
  const roots = folders.map((folder) => prefix + folder);
  const [old, now, staged] = [
    before === undefined ? new Map<string, string>() : await treeEntries(root, before, roots),
    await treeEntries(root, head, roots),
    await indexEntries(root, roots),
  ];
  const zeros = head.replaceAll(/./g, '0');
  const stale = [...new Set([...old.keys(), ...now.keys()])].filter(
    (path) => staged.get(path) === old.get(path) && staged.get(path) !== now.get(path),
  );
  if (stale.length === 0) return true;
  const input = stale.map((path) => `${now.get(path) ?? `0 ${zeros}`}\t${path}\0`).join('');
  const updated = await git(root, ['update-index', '-z', '--index-info'], { input, allow: [128] });
  if (updated.code !== 0) return false;
  // Stat data, so that the next `git status` need not read the files; exit code 1 says that some differ.
  await git(root, ['update-index', '-q', '--refresh'], { allow: [1, 128] });
  return true;
}

/** Where HEAD is a commit of ktx's: refreshes the index after it, in case the run that made it was killed before it did. */
export async function finishRefresh(repository: Repository, folders: readonly string[]): Promise<void> {
  const shown = await git(repository.root, ['log', '-1', '--format=%P %(trailers:key=Ktx-Run,valueonly)'], {
    allow: [128],
  });
  const [parent, run] = shown.stdout.toString('utf8').trimEnd().split(' ');
  if (shown.code === 0 && run !== undefined && run !== '') await refreshIndex(repository, parent === '' ? undefined : parent, folders);
}

async function stage(repository: Repository, changes: readonly FileChange[], env: Readonly<Record<string, string>>): Promise<void> {
  const { root, prefix } = repository;
  const zeros = '0'.repeat((await line(root, ['hash-object', '--stdin'])).length);
  const present = changes.filter((change) => change.onDisk && change.text !== undefined);
  await git(root, ['update-index', '--add', '-z', '--stdin'], {
    env,
    input: present.map(({ path }) => `${prefix}${path}\0`).join(''),
  });
  const lines: string[] = [];
  for (const { path, text, onDisk } of changes) {
    if (text === undefined) lines.push(`0 ${zeros}\t${prefix}${path}\0`);
    else if (!onDisk)
      lines.push(
        `100644 ${await line(root, ['hash-object', '-w', '--stdin', '--path', prefix + path], { input: text })}\t${prefix}${path}\0`,
      );
  }
  await git(root, ['update-index', '-z', '--index-info'], { env, input: lines.join('') });
}

async function treeEntries(root: string, commit: string, folders: readonly string[]): Promise<Map<string, string>> {
  const { stdout } = await git(root, ['ls-tree', '-r', '-z', '--full-tree', commit, '--', ...folders]);
  return entries(stdout, /^(\d+) \w+ ([0-9a-f]+)\t(.+)$/s);
}

async function indexEntries(root: string, folders: readonly string[]): Promise<Map<string, string>> {
  const { stdout } = await git(root, ['--literal-pathspecs', 'ls-files', '-s', '-z', '--', ...folders]);
  // Entries of a conflict have a stage other than 0: they equal nothing, and so are left alone.
  return entries(stdout, /^(\d+) ([0-9a-f]+ [0-3])\t(.+)$/s, (object) => object.replace(/ 0$/, ''));
}

function entries(output: Buffer, pattern: RegExp, object = (text: string) => text): Map<string, string> {
  const lines = output.toString('utf8').split('\0');
  return new Map(
    lines.flatMap((text) => {
      const [, mode, id, path] = pattern.exec(text) ?? [];
      return mode === undefined || id === undefined || path === undefined ? [] : [[path, `${mode} ${object(id)}`] as const];
    }),
  );
}

/** The person's own; ktx's where git knows none (it would invent one from the machine's name). */
async function identity(root: string): Promise<Readonly<Record<string, string>>> {
  const asked = await Promise.all(
    ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'].map((name) =>
      git(root, ['-c', 'user.useConfigOnly=true', 'var', name], { allow: [1, 128] }),
    ),
  );
  if (asked.every(({ code }) => code === 0)) return {};
  const fallback = {
    GIT_AUTHOR_NAME: 'ktx',
    GIT_AUTHOR_EMAIL: 'ktx@localhost',
    GIT_COMMITTER_NAME: 'ktx',
    GIT_COMMITTER_EMAIL: 'ktx@localhost',
  };
  return Object.fromEntries(Object.entries(fallback).map(([name, value]) => [name, process.env[name] || value]));
}

async function line(root: string, args: readonly string[], call: GitCall = {}): Promise<string> {
  return (await git(root, args, call)).stdout.toString('utf8').trim();
}
