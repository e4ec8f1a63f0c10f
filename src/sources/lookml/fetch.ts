import { stat } from 'node:fs/promises';
import { errorMessage, UserError } from '../../lib/error.ts';
import { parseLookml } from '../../semantic/formats/lookml/parse.ts';
import { resolveConfiguredPath } from '../../store/confined-file.ts';
import {
  fileItem,
  findFiles,
  isGeneratedFolder,
  listingEnd,
  readFileItem,
} from '../folder-files.ts';
import { checkOut } from '../git-checkout.ts';
import type { FetchContext, FetchEvent } from '../source.ts';
import type { LookmlConfig } from './config.ts';

/** Fetches the LookML files below the folder, from this machine or from a git repository. */
export async function* fetchLookml(context: FetchContext<LookmlConfig>): AsyncIterable<FetchEvent> {
  const { signal } = context;
  const folder = await lookmlFolder(context);
  const search = { folder, pattern: /\.(?:lkml|lookml)$/, isSkipped: isGeneratedFolder, signal };
  const found = await findFiles(search, ['']);
  yield* found.failed;
  for (const key of found.keys) {
    signal.throwIfAborted();
    yield await readFileItem(key, { folder, signal, toEvent: lookmlItem });
  }
  yield listingEnd(found.problems);
}

/** A file with a typing error is a failure, so that it withdraws no claims. */
async function lookmlItem(key: string, bytes: Buffer, signal: AbortSignal): Promise<FetchEvent> {
  const event = await fileItem(key, bytes, signal);
  if (event.kind !== 'item' || isDashboard(key)) return event;
  try {
    parseLookml(event.body, key);
    return event;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { kind: 'failed', key, reason: errorMessage(error) };
  }
}

/** Dashboards are YAML, whatever their ending says. */
export function isDashboard(key: string): boolean {
  return /\.dashboard\.(?:lkml|lookml)$/.test(key);
}

/** The real path of the folder. */
async function lookmlFolder(context: FetchContext<LookmlConfig>): Promise<string> {
  const { git: url, branch, path } = context.config;
  const folder =
    url === undefined
      ? await resolveConfiguredPath(context.projectDir, path)
      : await checkOut({ url, branch, path }, context);
  const found = await stat(folder ?? '').catch(() => undefined);
  if (folder !== undefined && found?.isDirectory() === true) return folder;
  throw new UserError('lookml_folder_missing', `${path} is not a folder.`, {
    hint: 'Set `path` to the folder with the LookML files.',
    exitCode: 2,
  });
}
