import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, extname, join, sep } from 'node:path';
import { slug } from '../../../context/catalog/slug.ts';
import { UserError } from '../../../lib/error.ts';

const drivers: Readonly<Record<string, 'sqlite' | 'duckdb'>> = {
  '.sqlite': 'sqlite',
  '.sqlite3': 'sqlite',
  '.db': 'sqlite',
  '.duckdb': 'duckdb',
};

interface FoundDatabase {
  /** What the connection is called. */
  readonly name: string;
  readonly driver: 'sqlite' | 'duckdb';
  /** The file itself, absolute. */
  readonly path: string;
}

interface FoundDatabases {
  readonly databases: readonly FoundDatabase[];
  /** Files that are not used, and why. */
  readonly refused: readonly { readonly what: string; readonly why: string }[];
}

/**
 * The SQLite and DuckDB files of a benchmark's folder, directly in it or in a folder of their own,
 * by the names that its questions use. A link that leads out of the folder is refused.
 */
export async function findDatabases(
  folder: string,
  wanted: readonly string[],
): Promise<FoundDatabases> {
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined)
    throw new UserError('file_not_found', `There is no folder ${folder}.`, {
      hint: 'give the folder with the database files of the benchmark',
      exitCode: 2,
    });
  const names = new Set(wanted.map(slug));
  const databases = new Map<string, FoundDatabase>();
  const refused: FoundDatabases['refused'][number][] = [];
  for (const path of await listFiles(root)) {
    const driver = drivers[extname(path).toLowerCase()];
    const name = slug(basename(path, extname(path)));
    if (driver === undefined || !names.has(name)) continue;
    const what = path.slice(root.length + 1);
    const actual = await realpath(path).catch(() => undefined);
    if (actual === undefined || !actual.startsWith(`${root}${sep}`))
      refused.push({ what, why: 'a link that leads out of the folder' });
    else if (!(await stat(actual)).isFile()) refused.push({ what, why: 'no file' });
    else if (databases.has(name)) refused.push({ what, why: `another file is called ${name}` });
    else databases.set(name, { name, driver, path: actual });
  }
  return { databases: [...databases.values()], refused };
}

/** Two levels, `a.sqlite` and `a/a.sqlite`. Follows no link to a folder. */
async function listFiles(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  const lists = entries
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(async (entry) => {
      const path = join(root, entry.name);
      if (!entry.isDirectory()) return [path];
      const inner = await readdir(path, { withFileTypes: true });
      return inner.filter((each) => !each.isDirectory()).map(({ name }) => join(path, name));
    });
  return (await Promise.all(lists)).flat().sort();
}
