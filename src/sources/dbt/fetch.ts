import { readFile, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { errorMessage, UserError } from '../../lib/error.ts';
import { fileCounter, fileItem, filesBelow, readFileItem } from '../folder-files.ts';
import { checkOut } from '../git-checkout.ts';
import type { FetchContext, Fetched } from '../source.ts';
import { artifactNames, reduceArtifact } from './artifacts/artifacts.ts';
import type { DbtConfig } from './config.ts';
import { projectFile, type ProjectFile, readProjectFile } from './files/project-file.ts';
import { artifactKey } from './artifacts/read-artifacts.ts';

const wanted = /\.(ya?ml|sql|py|md)$/;

/** The files of a dbt project that say something, and its artifacts without what changes by itself. */
export async function* fetchProject(context: FetchContext<DbtConfig>): AsyncIterable<Fetched> {
  const { config, projectDir, signal } = context;
  const { git: url, branch, path } = config;
  const folder =
    url === undefined ? resolve(projectDir, path) : await checkOut({ url, branch, path }, context);
  const own = await readIfThere(join(folder, projectFile));
  const project = readProjectFile(own ?? '');
  const artifacts =
    config.artifacts === undefined
      ? resolve(folder, project.targetPath)
      : resolve(projectDir, config.artifacts);
  // Whoever wrote the project chooses no file of this machine.
  const isElsewhere = config.artifacts === undefined && !artifacts.startsWith(folder + sep);
  const wantedArtifacts = isElsewhere ? [] : artifactNames;
  const found = await Promise.all(
    wantedArtifacts.map(async (name) => ({
      name,
      text: await readArtifact(join(artifacts, `${name}.json`)),
    })),
  );
  if (own === undefined && found.every(({ text }) => text === undefined)) throw noProject(folder);
  if (own !== undefined) yield fileItem(projectFile, Buffer.from(own));
  if (isElsewhere)
    yield {
      kind: 'failed',
      key: artifactKey('manifest'),
      reason: 'target-path leads out of the project: name it as `artifacts` in ktx.yaml',
    };
  for (const { name, text } of found)
    if (text !== undefined)
      yield typeof text === 'string' ? artifactItem(name, text) : tooLarge(name, text);
  const problems: string[] = [];
  for (const key of own === undefined ? [] : await filesOf(folder, project, problems)) {
    signal.throwIfAborted();
    yield await readFileItem(folder, key);
  }
  const [reason] = problems;
  yield {
    kind: 'end',
    listingComplete: reason === undefined,
    ...(reason === undefined ? {} : { reason }),
  };
}

function noProject(folder: string): UserError {
  const hint =
    'Set `path` to the folder with dbt_project.yml; or `artifacts` to one with manifest.json.';
  return new UserError(
    'dbt_project_missing',
    `${folder} has no ${projectFile} and no artifacts of dbt.`,
    { hint, exitCode: 2 },
  );
}

/** Of a whole project's, as dbt writes it. */
const largestArtifact = 200_000_000;

/** The text; its size, where that is more than fits into memory along with what is made of it. */
async function readArtifact(file: string): Promise<string | number | undefined> {
  const size = (await stat(file).catch(() => undefined))?.size;
  return size !== undefined && size > largestArtifact ? size : readIfThere(file);
}

function tooLarge(name: (typeof artifactNames)[number], size: number): Fetched {
  return {
    kind: 'failed',
    key: artifactKey(name),
    reason: `${name}.json has ${size} bytes, more than ${largestArtifact}`,
  };
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (
      error instanceof Error &&
      'code' in error &&
      (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    )
      return undefined;
    const hint = 'Check that the file can be read.';
    throw new UserError('dbt_project_unreadable', `${file}: ${errorMessage(error)}.`, {
      hint,
      cause: error,
    });
  }
}

/** Below the paths that the project names, sorted; a folder that cannot be listed is a problem. */
async function filesOf(
  folder: string,
  { paths }: ProjectFile,
  problems: string[],
): Promise<string[]> {
  const roots = new Set(
    Object.values(paths)
      .flat()
      .map((one) => one.replace(/^\.\//, '').replace(/\/+$/, '')),
  );
  const inside = [...roots].filter(
    (one) => one !== '' && !one.startsWith('/') && !one.split('/').includes('..'),
  );
  const tree = { folder, wanted, problems, found: fileCounter(folder) };
  const found = await Promise.all(inside.map((root) => filesBelow(tree, root)));
  return [...new Set(found.flat())].sort();
}

/** Apart from the files: where people ignore `target/`, git would not keep it. */
function artifactItem(name: (typeof artifactNames)[number], text: string): Fetched {
  const key = artifactKey(name);
  try {
    return { kind: 'item', key, path: key, body: reduceArtifact(name, text) };
  } catch (error) {
    return { kind: 'failed', key, reason: `${name}.json: ${errorMessage(error).split('\n')[0]}` };
  }
}
