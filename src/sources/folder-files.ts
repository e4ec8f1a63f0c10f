import { isUtf8 } from 'node:buffer';
import { realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorMessage, UserError } from '../lib/error.ts';
import { type BrokenYaml, readLocatedYaml } from '../lib/yaml/located-yaml.ts';
import { isInside, listConfinedFolder, readConfinedFileSync } from '../store/confined-file.ts';
import { isParsedInline, parseInThread, SlowFile } from './parser.ts';
import type { FetchEvent, FetchMemory } from './source.ts';

/** A search for files in a folder of others. */
export interface FileSearch {
  /** A real path. Nothing outside of it is read. */
  readonly folder: string;
  /** Tested against the name of a file. */
  readonly pattern: RegExp;
  /** Tested against the path of a folder, relative to `folder`. */
  readonly isSkipped: (path: string) => boolean;
  readonly signal: AbortSignal;
}

export interface FoundFiles {
  /** Paths relative to the folder, with `/`, sorted. */
  readonly keys: readonly string[];
  /** Links that are not followed. */
  readonly failed: readonly FailedItem[];
  /** A sentence for each folder that cannot be listed. */
  readonly problems: readonly string[];
}

type FailedItem = Extract<FetchEvent, { readonly kind: 'failed' }>;

/** Folders that tools fill with packages, build output and logs. */
const generatedFolders = new Set(['dbt_packages', 'dbt_modules', 'target', 'logs', 'node_modules']);

/** Whether no source reads the folder: a tool made what is in it. */
export function isGeneratedFolder(path: string): boolean {
  const name = basename(path);
  return generatedFolders.has(name) || name.startsWith('.');
}

interface Walk extends FileSearch {
  readonly keys: Set<string>;
  readonly failed: FailedItem[];
  readonly problems: string[];
  /** Real paths of the folders that the search begins with. */
  readonly starts: readonly string[];
  /**
   * Real paths of the folders that a link led to. Each is listed once, so that links in a circle
   * end.
   */
  readonly linked: Set<string>;
  readonly countFile: () => void;
  readonly countFolder: () => void;
}

/**
 * The files that match, from the paths in `starts` downwards (`''` is the whole folder). Follows
 * links that stay in the folder; a link that leaves it is a failed item.
 */
export async function findFiles(
  search: FileSearch,
  starts: readonly string[],
  limit = mostFiles,
): Promise<FoundFiles> {
  const { folder } = search;
  const real = await Promise.all(
    starts.map((path) => realpath(join(folder, path)).catch(() => undefined)),
  );
  const walk: Walk = {
    ...search,
    keys: new Set(),
    failed: [],
    problems: [],
    starts: real.filter((path) => path !== undefined),
    linked: new Set(),
    countFile: fileCounter(folder, limit),
    countFolder: fileCounter(folder, mostFiles),
  };
  for (const path of starts) await walkPath(walk, path);
  return { keys: [...walk.keys].sort(), failed: walk.failed, problems: walk.problems };
}

/** Walks a folder if its real path is inside. A folder that is not there has no files. */
async function walkPath(walk: Walk, path: string): Promise<void> {
  walk.signal.throwIfAborted();
  const { folder } = walk;
  const entries = await listConfinedFolder(join(folder, path), folder).catch((error: unknown) => {
    if (error instanceof UserError && error.code === 'path_outside_project')
      walk.failed.push({ kind: 'failed', key: path, reason: leavesFolder });
    else walk.problems.push(`${join(folder, path)} cannot be listed: ${errorMessage(error)}`);
    return [];
  });
  for (const entry of entries ?? []) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) await walkFolder(walk, inner);
    else if (entry.isSymbolicLink()) await walkLink(walk, inner);
    // What is no file, such as a pipe, is refused when it is read: its item is not gone.
    else addFile(walk, inner);
  }
}

async function walkFolder(walk: Walk, path: string): Promise<void> {
  walk.countFolder();
  if (!walk.isSkipped(path)) await walkPath(walk, path);
}

function addFile(walk: Walk, path: string): void {
  if (!walk.pattern.test(basename(path)) || walk.keys.has(path)) return;
  walk.countFile();
  walk.keys.add(path);
}

const leavesFolder = 'it is a link that leads out of the folder';

/**
 * A link to a file counts as a file. A link to a folder is followed unless the search reaches that
 * folder anyway, or is in it.
 */
async function walkLink(walk: Walk, path: string): Promise<void> {
  if (walk.isSkipped(path)) return;
  const target = await realpath(join(walk.folder, path)).catch(() => undefined);
  const isFolder =
    target !== undefined && (await stat(target).catch(() => undefined))?.isDirectory();
  if (target === undefined || isFolder !== true) return addFile(walk, path);
  if (!isInside(target, walk.folder)) {
    walk.failed.push({ kind: 'failed', key: path, reason: leavesFolder });
    return;
  }
  const isReached =
    walk.linked.has(target) ||
    walk.starts.some((start) => isInside(target, start) || isInside(start, target));
  if (isReached) return;
  walk.linked.add(target);
  await walkFolder(walk, path);
}

const mostFiles = 50_000;

/** A function that counts a file or folder, and throws `too_many_files` above the limit. */
function fileCounter(folder: string, limit: number): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count <= limit) return;
    throw new UserError('too_many_files', `${folder} has more than ${limit} files to read.`, {
      hint: 'Set `path` to a folder further down, with only the files that ktx should read.',
      exitCode: 2,
    });
  };
}

/** In bytes. */
const largestFile = 5_000_000;

interface FileReadOptions {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly maxBytes?: number;
  readonly toEvent?: typeof fileItem;
}

/** Reads one file of a folder; its path is its key. */
export async function readFileItem(
  key: string,
  { folder, signal, maxBytes = largestFile, toEvent = fileItem }: FileReadOptions,
): Promise<FetchEvent> {
  const failed = (reason: string): FetchEvent => ({ kind: 'failed', key, reason });
  try {
    const found = readConfinedFileSync(join(folder, key), { within: folder, maxBytes });
    if (found.kind === 'read') return await toEvent(key, found.bytes, signal);
    return failed(found.kind === 'refused' ? found.reason : 'it is gone');
  } catch (error) {
    signal.throwIfAborted();
    const code =
      error instanceof Error && 'code' in error ? String(error.code) : errorMessage(error);
    return failed(`it cannot be read (${code})`);
  }
}

/** A file as an item. Broken YAML is a failure, so that a typing error withdraws no claims. */
export async function fileItem(
  key: string,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<FetchEvent> {
  if (!isUtf8(bytes)) return { kind: 'failed', key, reason: 'it is not valid UTF-8' };
  const body = fileBody(bytes);
  const broken = /\.ya?ml$/.test(key) ? await findYamlFault(body, signal) : undefined;
  if (broken !== undefined) return { kind: 'failed', key, reason: broken };
  return { kind: 'item', key, path: key, body };
}

/**
 * `fileItem` that does not parse YAML again of which the project has an item: it was read when that
 * came.
 */
export function newFileItem(memory: FetchMemory): typeof fileItem {
  return async (key, bytes, signal) => {
    const isText = /\.ya?ml$/.test(key) && isUtf8(bytes);
    const body = isText ? fileBody(bytes) : '';
    return isText && memory.has(key, body)
      ? { kind: 'item', key, path: key, body }
      : fileItem(key, bytes, signal);
  };
}

function fileBody(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
}

async function findYamlFault(text: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const broken = isParsedInline(text) ? yamlFault(text) : await yamlFaultInThread(text, signal);
    return broken && `line ${broken.line}: not YAML: ${broken.reason}`;
  } catch (error) {
    if (error instanceof SlowFile) return error.message;
    throw error;
  }
}

function yamlFault(text: string): BrokenYaml | undefined {
  const yaml = readLocatedYaml(text);
  return 'broken' in yaml ? yaml.broken : undefined;
}

async function yamlFaultInThread(text: string, signal: AbortSignal) {
  return (await parseInThread({ kind: 'yaml', text }, { signal })) as BrokenYaml | undefined;
}

/** The end of a listing; complete unless some folder could not be listed. */
export function listingEnd([reason]: readonly string[]): FetchEvent {
  if (reason === undefined) return { kind: 'end', listingComplete: true };
  return { kind: 'end', listingComplete: false, reason };
}
