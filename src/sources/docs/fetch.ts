import { isUtf8 } from 'node:buffer';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, matchesGlob, relative, resolve, sep } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { fileCounter, listingEnd } from '../folder-files.ts';
import type { FetchContext, FetchEvent } from '../source.ts';
import type { DocsConfig } from './config.ts';

/** Fetches the documents of a folder, sorted by path, or a single document. */
export async function* fetchDocuments({
  config,
  projectDir,
  signal,
}: FetchContext<DocsConfig>): AsyncGenerator<FetchEvent> {
  const root = resolve(projectDir, config.path);
  const info = await stat(root).catch(() => undefined);
  if (info === undefined) {
    throw new UserError('docs_not_found', `There is nothing at ${config.path}.`, {
      hint: 'Correct the `path` of the connection in ktx.yaml. It is relative to the folder of ktx.yaml.',
      exitCode: 2,
    });
  }
  const search: DocumentSearch = {
    projectDir: resolve(projectDir),
    files: [],
    problems: [],
    countFile: fileCounter(root),
    signal,
  };
  if (info.isDirectory()) await findDocuments(search, root);
  else search.files.push(root);
  const base = info.isDirectory() ? root : join(root, '..');
  for (const file of search.files.sort()) {
    signal.throwIfAborted();
    const key = relative(base, file).replaceAll(sep, '/');
    if (isIncluded(key, config.include)) yield await readDocument(file, key, await realpath(base));
  }
  yield listingEnd(search.problems);
}

/** Whether a path matches one of the globs; without globs, every path does. */
export function isIncluded(key: string, include: readonly string[] | undefined): boolean {
  return include === undefined || include.some((glob) => matchesGlob(key, glob));
}

interface DocumentSearch {
  readonly projectDir: string;
  /** Absolute paths of the documents that were found. */
  readonly files: string[];
  /** A sentence for each folder that cannot be listed. */
  readonly problems: string[];
  readonly countFile: () => void;
  readonly signal: AbortSignal;
}

const documentName = /\.(md|mdx|markdown|html?|txt)$/i;
/** Folders at the top of a project that ktx writes itself. */
const ownFolders = new Set(['.ktx', 'claims', 'semantic-layer', 'sources', 'wiki']);

async function findDocuments(search: DocumentSearch, folder: string): Promise<void> {
  search.signal.throwIfAborted();
  const entries = await readdir(folder, { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      search.problems.push(`${folder} cannot be listed (${error.code ?? error.message})`);
      return [];
    },
  );
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const isSkipped =
      entry.name.startsWith('.') ||
      entry.name === 'node_modules' ||
      (folder === search.projectDir && ownFolders.has(entry.name));
    if (isSkipped) continue;
    if (entry.isDirectory()) await findDocuments(search, path);
    else if (documentName.test(entry.name)) {
      search.countFile();
      search.files.push(path);
    }
  }
}

/** In bytes. */
const largestDocument = 2_000_000;

/** Reads a document. A link may lead to another document of the folder, and nowhere else. */
async function readDocument(file: string, key: string, root: string): Promise<FetchEvent> {
  const failed = (reason: string): FetchEvent => ({ kind: 'failed', key, reason });
  try {
    const target = await realpath(file);
    if (!target.startsWith(root + sep)) return failed('it is a link that leads out of the folder');
    const info = await stat(target);
    if (!info.isFile()) return failed('it is not a file');
    if (info.size > largestDocument)
      return failed(`it is larger than ${largestDocument / 1_000_000} MB`);
    const bytes = await readFile(target);
    if (!isUtf8(bytes)) return failed('it is not valid UTF-8');
    return { kind: 'item', key, path: key, body: bytes.toString('utf8') };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    return failed(`it cannot be read (${String(code)})`);
  }
}
