import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { isUtf8 } from 'node:buffer';
import { join, matchesGlob, relative, resolve, sep } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { fileCounter } from '../folder-files.ts';
import type { Fetched, FetchContext } from '../source.ts';
import type { DocsConfig } from './config.ts';

const documents = /\.(md|mdx|markdown|html?|txt)$/i;
const largestDocument = 2_000_000;
/** What ktx itself writes into a project is no source of it. */
const generated = new Set(['.ktx', 'claims', 'semantic-layer', 'sources', 'wiki']);

/** The documents of a folder, sorted by path; what cannot be read is told by name. */
export async function* fetchDocuments({
  config,
  projectDir,
  signal,
}: FetchContext<DocsConfig>): AsyncGenerator<Fetched> {
  const root = resolve(projectDir, config.path);
  const info = await stat(root).catch(() => undefined);
  if (info === undefined) {
    throw new UserError('docs_not_found', `There is nothing at ${config.path}.`, {
      hint: 'Correct the path of the connection in ktx.yaml; it starts at the folder of ktx.yaml.',
      exitCode: 2,
    });
  }
  const listing = info.isDirectory()
    ? await list(root, { projectDir: resolve(projectDir), found: fileCounter(root), signal })
    : { files: [root], problems: [] };
  const base = info.isDirectory() ? root : join(root, '..');
  for (const file of listing.files.sort()) {
    signal.throwIfAborted();
    const key = relative(base, file).replaceAll(sep, '/');
    if (isIncluded(key, config.include)) yield await readDocument(file, key, await realpath(base));
  }
  const [problem] = listing.problems;
  yield {
    kind: 'end',
    listingComplete: problem === undefined,
    ...(problem === undefined ? {} : { reason: problem }),
  };
}

export function isIncluded(key: string, include: readonly string[] | undefined): boolean {
  return include === undefined || include.some((glob) => matchesGlob(key, glob));
}

interface Listing {
  readonly files: string[];
  readonly problems: string[];
}

async function list(
  folder: string,
  place: { readonly projectDir: string; readonly found: () => void; readonly signal: AbortSignal },
): Promise<Listing> {
  place.signal.throwIfAborted();
  const listing: Listing = { files: [], problems: [] };
  const entries = await readdir(folder, { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      listing.problems.push(`${folder} cannot be listed (${error.code ?? error.message})`);
      return [];
    },
  );
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const isSkipped =
      entry.name.startsWith('.') ||
      entry.name === 'node_modules' ||
      (folder === place.projectDir && generated.has(entry.name));
    if (isSkipped) continue;
    if (entry.isDirectory()) {
      const inner = await list(path, place);
      listing.files.push(...inner.files);
      listing.problems.push(...inner.problems);
    } else if (documents.test(entry.name)) {
      place.found();
      listing.files.push(path);
    }
  }
  return listing;
}

/** A link may lead to another document of the folder, and to nothing else. */
async function readDocument(file: string, key: string, root: string): Promise<Fetched> {
  const failed = (reason: string): Fetched => ({ kind: 'failed', key, reason });
  try {
    const actual = await realpath(file);
    if (!actual.startsWith(root + sep)) return failed('it is a link that leads out of the folder');
    const info = await stat(actual);
    if (!info.isFile()) return failed('it is no file');
    if (info.size > largestDocument)
      return failed(`it is larger than ${largestDocument / 1_000_000} MB`);
    const bytes = await readFile(actual);
    if (!isUtf8(bytes)) return failed('it is not valid UTF-8');
    return { kind: 'item', key, path: key, body: bytes.toString('utf8') };
  } catch (error) {
    return failed(
      `it cannot be read (${error instanceof Error && 'code' in error ? String(error.code) : String(error)})`,
    );
  }
}
