import { dirname, join, normalize, relative, resolve, sep } from 'node:path';
import { errorMessage, UserError } from '../../lib/error.ts';
import { isInside, readConfinedFile, resolveConfiguredPath } from '../../store/confined-file.ts';
import {
  fileItem,
  type FileSearch,
  findFiles,
  type FoundFiles,
  isGeneratedFolder,
  listingEnd,
  newFileItem,
  readFileItem,
} from '../folder-files.ts';
import { checkOut } from '../git-checkout.ts';
import { isParsedInline, parseInThread } from '../parser.ts';
import type { FetchContext, FetchEvent, FetchMemory } from '../source.ts';
import { artifactKey } from './artifacts/read-artifacts.ts';
import { type ArtifactName, artifactNames, reduceArtifact } from './artifacts/reduce-artifact.ts';
import type { DbtConfig } from './config.ts';
import { codeOwnersBody, codeOwnersKey, codeOwnersPaths } from './files/code-owners.ts';
import { packageFolders, packagesBody, packagesKey } from './files/packages.ts';
import { type DbtProjectFile, parseProjectFile, projectFileName } from './files/project-file.ts';

/**
 * Fetches the files of a dbt project, and its artifacts reduced to what does not change by itself.
 */
export async function* fetchProject(context: FetchContext<DbtConfig>): AsyncIterable<FetchEvent> {
  const folder = await dbtFolder(context);
  const projectText = await readIfThere(folder, {
    file: projectFileName,
    maxBytes: largestSettings,
  });
  const { signal } = context;
  const projectItem =
    projectText === undefined
      ? undefined
      : await fileItem(projectFileName, Buffer.from(projectText), signal);
  // What the thread could not parse is not parsed here either.
  const project = parseProjectFile(projectItem?.kind === 'item' ? projectItem.body : '');
  const artifacts = await fetchArtifacts(context, folder, project);
  if (projectText === undefined && artifacts.length === 0) throw noProject(folder);
  if (projectItem !== undefined) yield projectItem;
  yield* await fetchCodeOwners(context, folder);
  yield* await countPackages({ folder, signal });
  yield* artifacts;
  if (projectText === undefined) yield listingEnd([]);
  else yield* fetchProjectFiles({ folder, signal }, project, context.memory);
}

async function* fetchProjectFiles(
  { folder, signal }: Pick<FileSearch, 'folder' | 'signal'>,
  project: DbtProjectFile,
  memory: FetchMemory,
): AsyncIterable<FetchEvent> {
  const toEvent = newFileItem(memory);
  const search = { folder, pattern: projectFiles, isSkipped: isGeneratedFolder, signal };
  const found = await findProjectFiles(search, project);
  yield* found.failed;
  yield* failedPaths(project);
  for (const key of found.keys) {
    signal.throwIfAborted();
    if (!key.endsWith('.csv')) yield await readFileItem(key, { folder, signal, toEvent });
    else if (isSeed(key, project)) yield seedItem(key);
  }
  yield listingEnd(found.problems);
}

const projectFiles = /\.(ya?ml|sql|py|md|csv)$/;

function isSeed(key: string, { paths }: DbtProjectFile): boolean {
  return paths.seeds.some((folder) => key.startsWith(`${folder}/`));
}

/** A seed is known by its name alone: the warehouse has its rows, and they do not belong in git. */
function seedItem(key: string): FetchEvent {
  return { kind: 'item', key, path: key, body: seedBody };
}

const seedBody = 'Rows of a dbt seed: see the dbt project.\n';

/** The real path of the folder with the project; the path as it is written if nothing is there. */
async function dbtFolder(context: FetchContext<DbtConfig>): Promise<string> {
  const { git: url, branch, path } = context.config;
  if (url !== undefined) return checkOut({ url, branch, path }, context);
  const found = await resolveConfiguredPath(context.projectDir, path);
  return found ?? resolve(context.projectDir, path);
}

function noProject(folder: string): UserError {
  const message = `${folder} has no ${projectFileName} and no artifacts of dbt.`;
  return new UserError('dbt_project_missing', message, {
    hint: 'Set `path` to the folder with dbt_project.yml; or `artifacts` to one with manifest.json.',
    exitCode: 2,
  });
}

/**
 * The rules about who reviews what, from the nearest folder that has some: the project's own, or
 * one above it in the repository that it was fetched from or in the project of ktx.
 */
async function fetchCodeOwners(
  { config, projectDir, signal }: FetchContext<DbtConfig>,
  folder: string,
): Promise<readonly FetchEvent[]> {
  const fetchedFrom = config.git === undefined ? undefined : rootOf(folder, config.path);
  const top = await resolveConfiguredPath(projectDir, '.');
  const outermost = fetchedFrom ?? (top !== undefined && isInside(folder, top) ? top : folder);
  for (let root = folder; ; root = dirname(root)) {
    for (const path of codeOwnersPaths) {
      const limits = { within: root, maxBytes: largestSettings };
      const found = await readConfinedFile(join(root, path), limits).catch(() => undefined);
      if (found?.kind === 'missing') continue;
      if (found === undefined || found.kind === 'refused')
        return [{ kind: 'failed', key: codeOwnersKey, reason: found?.reason ?? 'cannot be read' }];
      const inside = relative(root, folder).split(sep).join('/');
      const body = codeOwnersBody(inside, found.bytes.toString('utf8'));
      return [await fileItem(codeOwnersKey, Buffer.from(body), signal)];
    }
    if (root === outermost) return [];
  }
}

/** How many models the installed packages have: only artifacts tell what they say. */
async function countPackages({
  folder,
  signal,
}: Pick<FileSearch, 'folder' | 'signal'>): Promise<readonly FetchEvent[]> {
  const isSkipped = (path: string) => /(?:^|\/)(?:\.|target$|integration_tests$)/.test(path);
  const search = { folder, pattern: /\.(sql|py)$/, isSkipped, signal };
  const body = packagesBody((await findFiles(search, packageFolders)).keys);
  return body === '' ? [] : [{ kind: 'item', key: packagesKey, path: packagesKey, body }];
}

/** The folder in which the path leads to `folder`. */
function rootOf(folder: string, path: string): string {
  const steps = normalize(path)
    .split(sep)
    .filter((step) => step !== '' && step !== '.');
  return resolve(folder, ...steps.map(() => '..'));
}

/** In bytes. */
const largestSettings = 5_000_000;

interface WantedFile {
  readonly file: string;
  readonly maxBytes: number;
}

async function readIfThere(
  folder: string,
  { file, maxBytes }: WantedFile,
): Promise<string | undefined> {
  const path = join(folder, file);
  const unreadable = (reason: string, cause?: unknown) =>
    new UserError('dbt_project_unreadable', `${path} cannot be read: ${reason}.`, {
      hint: 'Put a file that can be read in its place, inside of the folder.',
      cause,
    });
  const found = await readConfinedFile(path, { within: folder, maxBytes }).catch(
    (error: unknown) => {
      throw unreadable(errorMessage(error), error);
    },
  );
  if (found.kind === 'missing') return undefined;
  if (found.kind === 'refused') throw unreadable(found.reason);
  return found.bytes.toString('utf8');
}

/** The artifacts that are there, as items or failures. */
async function fetchArtifacts(
  { config, projectDir, signal }: FetchContext<DbtConfig>,
  folder: string,
  { targetPath }: DbtProjectFile,
): Promise<FetchEvent[]> {
  const events = (root: string, path: string) =>
    Promise.all(artifactNames.map((name) => fetchArtifact({ root, path, signal }, name)));
  if (config.artifacts !== undefined) {
    const root = await resolveConfiguredPath(projectDir, config.artifacts);
    const found = root === undefined ? [] : await events(root, '');
    return found.filter((event) => event !== undefined);
  }
  // The author of a dbt project must not choose files of this machine.
  if (resolve(folder, targetPath) === folder || !isInside(resolve(folder, targetPath), folder)) {
    const reason = 'target-path leads out of the project: name it as `artifacts` in ktx.yaml';
    return [{ kind: 'failed', key: artifactKey('manifest'), reason }];
  }
  return (await events(folder, targetPath)).filter((event) => event !== undefined);
}

/** In bytes. A larger text does not fit into memory together with what is made of it. */
const largestArtifact = 200_000_000;

/** The artifact in the folder `path` of `root`; a failure if it cannot be read. */
interface ArtifactFolder {
  /** Nothing outside of it is read. */
  readonly root: string;
  /** In the root. */
  readonly path: string;
  readonly signal: AbortSignal;
}

async function fetchArtifact(
  { root, path, signal }: ArtifactFolder,
  name: ArtifactName,
): Promise<FetchEvent | undefined> {
  const key = artifactKey(name);
  const failed = (error: unknown): FetchEvent => {
    const [reason] = errorMessage(error).split('\n');
    return { kind: 'failed', key, reason: `${name}.json: ${reason}` };
  };
  const limits = { within: root, maxBytes: largestArtifact };
  try {
    const found = await readConfinedFile(join(root, path, `${name}.json`), limits);
    if (found.kind === 'missing') return undefined;
    if (found.kind === 'refused') return failed(found.reason);
    return {
      kind: 'item',
      key,
      path: key,
      body: await reduceInThread(name, found.bytes, signal),
    };
  } catch (error) {
    signal.throwIfAborted();
    return failed(error);
  }
}

async function reduceInThread(
  name: ArtifactName,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<string> {
  if (isParsedInline(bytes)) return reduceArtifact(name, bytes.toString('utf8'));
  return (await parseInThread({ kind: 'artifact', name, bytes }, { signal })) as string;
}

/**
 * The files below the paths that the project names. The author of a project must not choose files
 * of this machine.
 */
async function findProjectFiles(
  search: FileSearch,
  { paths }: DbtProjectFile,
): Promise<FoundFiles> {
  const folders = Object.values(paths)
    .flat()
    .filter((path) => !leadsOut(path))
    .map((path) => path.split('/').filter((step) => !['', '.'].includes(step)));
  const inside = folders.filter((steps) => steps.length > 0).map((steps) => steps.join('/'));
  return findFiles(search, [...new Set(inside)]);
}

function leadsOut(path: string): boolean {
  return path.startsWith('/') || path.split('/').includes('..');
}

/** A failure for each path that leads out of the folder, with what is not read there. */
function failedPaths({ paths }: DbtProjectFile): readonly FetchEvent[] {
  const outside = Object.entries(paths).flatMap(([kind, folders]) =>
    folders.filter(leadsOut).map((folder) => ({ kind, folder })),
  );
  const byFolder = Map.groupBy(outside, ({ folder }) => folder);
  return [...byFolder].map(([folder, all]) => ({
    kind: 'failed',
    key: folder,
    reason: `this path of ${projectFileName} leads out of the folder: its ${all.map(({ kind }) => kind).join(' and ')} are not read`,
  }));
}
