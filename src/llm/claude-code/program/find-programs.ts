import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { isInside, realPath } from '../../../store/secrets.ts';

/** Where a program may be looked for, and whose files it must not be. */
export interface ProgramPlaces {
  /** The environment of ktx: its PATH and HOME. */
  readonly env: NodeJS.ProcessEnv;
  readonly projectDir: string;
}

/**
 * Where installers put Claude Code. A program that another one started, such as an MCP client,
 * often has a short PATH.
 */
const placesInHome = [
  '.local/bin',
  '.claude/local',
  '.claude/local/node_modules/.bin',
  '.npm-global/bin',
];
const placesOfMachine = ['/opt/homebrew/bin', '/home/linuxbrew/.linuxbrew/bin', '/usr/local/bin'];

/**
 * The absolute paths at which a program named `claude` is found: first those of PATH, then the
 * usual places. A folder that the project may control is left out: one that is relative, that is
 * inside of the project or its repository, or that a package manager made for a project.
 */
export function findPrograms({ env, projectDir }: ProgramPlaces): readonly string[] {
  const home = env['HOME'] ?? '';
  const onPath = (env['PATH'] ?? '').split(':').filter((folder) => !isProjectBin(folder));
  const inHome = isAbsolute(home) ? placesInHome.map((folder) => join(home, folder)) : [];
  const folders = [...onPath, ...inHome, ...placesOfMachine].filter((folder) => isAbsolute(folder));
  const paths = new Set(folders.map((folder) => join(folder, 'claude')));
  return [...paths].filter((path) => existsSync(path) && !isOfProject(path, { env, projectDir }));
}

/**
 * `npx` and `npm run` put the folders of the project, and of all folders above it, in front of
 * PATH.
 */
function isProjectBin(folder: string): boolean {
  const [last, parent] = folder
    .split(sep)
    .filter((part) => part !== '')
    .toReversed();
  return last === '.bin' && parent === 'node_modules';
}

/**
 * True if the path, or what it links to, is in the project or in the repository that the project is
 * part of.
 */
export function isOfProject(path: string, { env, projectDir }: ProgramPlaces): boolean {
  const project = realPath(projectDir);
  const folders = [project, repositoryOf(project, realPath(env['HOME'] ?? sep))];
  // The folder of the path without links, but not the path itself: it may be a link into the
  // project.
  const written = join(realPath(dirname(path)), 'claude');
  return [path, written, realPath(path)].some((place) =>
    folders.some((folder) => folder !== undefined && isInside(place, folder)),
  );
}

/**
 * The nearest folder with a `.git`. Undefined if that is the home folder or above: it holds
 * everything.
 */
function repositoryOf(project: string, home: string): string | undefined {
  for (let folder = project; ; folder = dirname(folder)) {
    if (folder === home || isInside(home, folder)) return undefined;
    if (existsSync(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}
