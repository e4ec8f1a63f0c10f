import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { isInside } from '../../store/confined-file.ts';
import { undefinedIfMissing, writeAtomically } from '../../store/files.ts';

export interface NewFileOptions {
  readonly cwd: string;
  /** True if the person allows that a file is replaced. */
  readonly overwrites?: boolean;
  /** What to type to replace the file. */
  readonly overwriteHint: string;
}

/**
 * Writes a file that a person named. Refuses to replace a file, unless that is allowed, and a path
 * that leads through a link out of the folder where the person is. Returns the absolute path.
 */
export async function writeNewFile(
  path: string,
  content: string | Uint8Array,
  options: NewFileOptions,
): Promise<string> {
  const file = await requireFree(path, options);
  const mayReplace = async (): Promise<boolean> =>
    options.overwrites === true || (await lstat(file).catch(undefinedIfMissing)) === undefined;
  const isWritten = await writeAtomically(file, content, {
    within: placeOf(file, options.cwd),
    mayReplace,
  });
  if (!isWritten) throw existsError(file, options);
  return file;
}

/** The absolute path of a file that may be written. */
export async function requireFree(
  path: string,
  { cwd, overwrites = false, overwriteHint }: NewFileOptions,
): Promise<string> {
  const file = resolve(cwd, path);
  const found = await lstat(file).catch(undefinedIfMissing);
  if (found?.isSymbolicLink() === true)
    throw new UserError('path_is_link', `${file} is a link; nothing was written.`, {
      hint: 'Name the file that you mean.',
      exitCode: 2,
    });
  const folder = dirname(file);
  if (!isInside(file, cwd) && !existsSync(folder))
    throw new UserError('folder_missing', `There is no folder ${folder}.`, {
      hint: 'Make it, or choose another.',
      exitCode: 2,
    });
  if (found !== undefined && !overwrites) throw existsError(file, { cwd, overwriteHint });
  return file;
}

/** The folder that the file must be in after all links are followed. */
function placeOf(file: string, cwd: string): string {
  return isInside(file, cwd) ? cwd : dirname(file);
}

function existsError(file: string, { overwriteHint }: NewFileOptions): UserError {
  return new UserError('file_exists', `${file} exists; nothing was written.`, {
    hint: `Choose another name, or replace it: ${overwriteHint}`,
    exitCode: 2,
  });
}
