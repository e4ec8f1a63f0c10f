import { readFileSync, readdirSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The files of the page by their path, as they were when the server began. */
export type PageFiles = ReadonlyMap<string, Buffer>;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Where `npm run build` writes the page. */
const pageFolder = join(root, 'dist/page');

/** Builds the page; only a clone has it. */
export const pageBuilder = join(root, 'scripts/build-page.mjs');

/** Undefined if the page has not been built, or its sources are newer. */
export function readPageFiles(): PageFiles | undefined {
  const built = modifiedIn(pageFolder);
  if (built === undefined || (modifiedIn(join(root, 'web')) ?? 0) > built) return undefined;
  return new Map(
    listFiles(pageFolder).map((path) => [
      `/${path.replaceAll('\\', '/')}`,
      readFileSync(join(pageFolder, path)),
    ]),
  );
}

/** When the newest file of a folder was changed; undefined if there is none. */
function modifiedIn(folder: string): number | undefined {
  const times = listFiles(folder).map((path) => statSync(join(folder, path)).mtimeMs);
  return times.length === 0 ? undefined : Math.max(...times);
}

function listFiles(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Sends a file of the page, which anybody on this machine may read: it has no data. */
export function sendPageFile(response: ServerResponse, files: PageFiles, path: string): void {
  const name = path === '/' ? '/index.html' : path;
  const content = files.get(name);
  const { method } = response.req;
  const isFound = content !== undefined && (method === 'GET' || method === 'HEAD');
  response.writeHead(isFound ? 200 : 404, {
    'content-type': isFound ? (types[extname(name)] ?? 'application/octet-stream') : 'text/plain',
    'cache-control': name.startsWith('/assets/') ? 'private, max-age=31536000' : 'no-cache',
  });
  response.end(isFound ? content : 'There is no such page.\n');
}
