import { isUtf8 } from 'node:buffer';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { matchesGlob } from '../../lib/patterns/glob.ts';
import { UserError } from '../../lib/error.ts';
import { resolveConfiguredPath } from '../../store/confined-file.ts';
import { findFiles, listingEnd, readFileItem } from '../folder-files.ts';
import type { FetchContext, FetchEvent } from '../source.ts';
import type { DocsConfig } from './config.ts';

/** Fetches the documents of a folder, sorted by path, or a single document. */
export async function* fetchDocuments({
  config,
  projectDir,
  signal,
}: FetchContext<DocsConfig>): AsyncGenerator<FetchEvent> {
  const root = await resolveConfiguredPath(projectDir, config.path);
  if (root === undefined) throw documentsNotFound(config.path);
  const isFolder = (await stat(root)).isDirectory();
  const project = await realpath(projectDir);
  const folder = isFolder ? root : dirname(root);
  const isSkipped = (path: string) => {
    const name = basename(path);
    const isOwn = dirname(join(folder, path)) === project && ownFolders.has(name);
    return isOwn || name.startsWith('.') || name === 'node_modules';
  };
  const found = isFolder
    ? await findFiles({ folder, pattern: documentName, isSkipped, signal }, [''])
    : { keys: [basename(root)], failed: [], problems: [] };
  yield* found.failed;
  for (const key of found.keys) {
    signal.throwIfAborted();
    if (isIncluded(key, config.include))
      yield await readFileItem(key, {
        folder,
        signal,
        maxBytes: largestDocument,
        toEvent: documentItem,
      });
  }
  yield listingEnd(found.problems);
}

function documentsNotFound(path: string): UserError {
  return new UserError('docs_not_found', `There is nothing at ${path}.`, {
    hint: 'Correct the `path` of the connection in ktx.yaml. It is relative to the folder of ktx.yaml.',
    exitCode: 2,
  });
}

/** Whether a path matches one of the globs; without globs, every path does. */
export function isIncluded(key: string, include: readonly string[] | undefined): boolean {
  return include === undefined || include.some((glob) => matchesGlob(key, glob));
}

const documentName = /^[^.].*\.(md|mdx|markdown|html?|txt)$/i;
/** Folders at the top of a project that ktx writes itself. */
const ownFolders = new Set(['.ktx', 'claims', 'semantic-layer', 'sources', 'wiki']);

/** In bytes. */
const largestDocument = 2_000_000;

async function documentItem(key: string, bytes: Buffer): Promise<FetchEvent> {
  if (!isUtf8(bytes)) return { kind: 'failed', key, reason: 'it is not valid UTF-8' };
  return { kind: 'item', key, path: key, body: bytes.toString('utf8') };
}
