import { readFile, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { errorMessage, UserError } from '../../lib/error.ts';
import {
  fileCounter,
  fileItem,
  type FileSearch,
  listFiles,
  listingEnd,
  readFileItem,
} from '../folder-files.ts';
import { checkOut } from '../git-checkout.ts';
import type { FetchContext, FetchEvent } from '../source.ts';
import { artifactKey } from './artifacts/read-artifacts.ts';
import { type ArtifactName, artifactNames, reduceArtifact } from './artifacts/reduce-artifact.ts';
import type { DbtConfig } from './config.ts';
import { type DbtProjectFile, parseProjectFile, projectFileName } from './files/project-file.ts';

/** Fetches the files of a dbt project, and its artifacts reduced to what does not change by itself. */
export async function* fetchProject(context: FetchContext<DbtConfig>): AsyncIterable<FetchEvent> {
  const folder = await dbtFolder(context);
  const projectText = await readIfThere(join(folder, projectFileName));
  const project = parseProjectFile(projectText ?? '');
  const artifacts = await fetchArtifacts(context, folder, project);
  if (projectText === undefined && artifacts.length === 0) throw noProject(folder);
  if (projectText !== undefined) yield fileItem(projectFileName, Buffer.from(projectText));
  yield* artifacts;
  const problems: string[] = [];
  if (projectText !== undefined) {
    const countFile = fileCounter(folder);
    const search = { folder, pattern: /\.(ya?ml|sql|py|md)$/, problems, countFile };
    for (const key of await listDbtFiles(search, project)) {
      context.signal.throwIfAborted();
      yield await readFileItem(folder, key);
    }
  }
  yield listingEnd(problems);
}

async function dbtFolder(context: FetchContext<DbtConfig>): Promise<string> {
  const { git: url, branch, path } = context.config;
  if (url === undefined) return resolve(context.projectDir, path);
  return checkOut({ url, branch, path }, context);
}

function noProject(folder: string): UserError {
  const message = `${folder} has no ${projectFileName} and no artifacts of dbt.`;
  return new UserError('dbt_project_missing', message, {
    hint: 'Set `path` to the folder with dbt_project.yml; or `artifacts` to one with manifest.json.',
    exitCode: 2,
  });
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new UserError('dbt_project_unreadable', `${file}: ${errorMessage(error)}.`, {
      hint: 'Check that the file can be read.',
      cause: error,
    });
  }
}

/** The artifacts that are there, as items or failures. */
async function fetchArtifacts(
  { config, projectDir }: FetchContext<DbtConfig>,
  folder: string,
  { targetPath }: DbtProjectFile,
): Promise<FetchEvent[]> {
  const isConfigured = config.artifacts !== undefined;
  const artifacts = isConfigured
    ? resolve(projectDir, config.artifacts ?? '')
    : resolve(folder, targetPath);
  // The author of a dbt project must not choose files of this machine.
  if (!isConfigured && !artifacts.startsWith(folder + sep)) {
    const reason = 'target-path leads out of the project: name it as `artifacts` in ktx.yaml';
    return [{ kind: 'failed', key: artifactKey('manifest'), reason }];
  }
  const events = await Promise.all(artifactNames.map((name) => fetchArtifact(artifacts, name)));
  return events.filter((event) => event !== undefined);
}

/** In bytes. A larger text does not fit into memory together with what is made of it. */
const largestArtifact = 200_000_000;

async function fetchArtifact(folder: string, name: ArtifactName): Promise<FetchEvent | undefined> {
  const key = artifactKey(name);
  const file = join(folder, `${name}.json`);
  const size = (await stat(file).catch(() => undefined))?.size ?? 0;
  if (size > largestArtifact) {
    const reason = `${name}.json has ${size} bytes, more than ${largestArtifact}`;
    return { kind: 'failed', key, reason };
  }
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  try {
    return { kind: 'item', key, path: key, body: reduceArtifact(name, text) };
  } catch (error) {
    const [reason] = errorMessage(error).split('\n');
    return { kind: 'failed', key, reason: `${name}.json: ${reason}` };
  }
}

/** The files below the paths that the project names, sorted. Paths that lead out of the project are left out. */
async function listDbtFiles(search: FileSearch, { paths }: DbtProjectFile): Promise<string[]> {
  const folders = Object.values(paths)
    .flat()
    .map((path) => path.replace(/^\.\//, '').replace(/\/+$/, ''));
  const inside = [...new Set(folders)].filter(
    (path) => path !== '' && !path.startsWith('/') && !path.split('/').includes('..'),
  );
  const found = await Promise.all(inside.map((path) => listFiles(search, path)));
  return [...new Set(found.flat())].sort();
}
