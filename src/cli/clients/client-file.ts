import { lstat, readFile, stat } from 'node:fs/promises';
import { errorMessage, UserError } from '../../lib/error.ts';
import { writeAtomically } from '../../store/files.ts';
import type { ClientEntry, McpClient } from './client-list.ts';
import { editEntry, readEntry, UneditableFileError } from './edit-entry.ts';

/** In bytes: settings of people are far smaller. */
const largestFile = 20_000_000;
const byteOrderMark = '\uFEFF';

/** The file in which a client keeps its servers. */
export interface ClientFile {
  readonly path: string;
  /** Without its byte order mark; undefined if there is no file. */
  readonly text: string | undefined;
  readonly hasMark: boolean;
  /** The folder that the file must be in, after links are followed; undefined for one's own. */
  readonly within?: string | undefined;
}

export async function openClientFile(
  { path, within }: Pick<ClientFile, 'path' | 'within'>,
  title: string,
): Promise<ClientFile> {
  try {
    const info = await stat(path);
    const { size } = info;
    if (!info.isFile()) throw unusable(title, path, 'it is no regular file');
    if (size > largestFile) throw unusable(title, path, `it is larger than ${largestFile} bytes`);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      await readFile(path),
    );
    const hasMark = text.startsWith(byteOrderMark);
    return { path, text: hasMark ? text.slice(1) : text, hasMark, within };
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (isMissing(error) && !(await isThere(path)))
      return { path, text: undefined, hasMark: false, within };
    throw unusable(title, path, errorMessage(error));
  }
}

export async function findEntry(file: ClientFile, client: McpClient, name: string) {
  return explained(client, file, () => readEntry(file.text ?? '', client, name));
}

/** The text after a change; equal to the one before if there is nothing to do. */
export async function planEntry(
  file: ClientFile,
  client: McpClient,
  change: { readonly name: string; readonly entry: ClientEntry | undefined },
): Promise<string> {
  return explained(client, file, () => editEntry(file.text ?? '', client, change));
}

/**
 * Writes the new text, and before it the old one to a file `.bak` beside it. A file that only may
 * be read stays as it is.
 *
 * @returns The path of the copy; undefined if there was no file.
 */
export async function writeClientFile(
  file: ClientFile,
  client: McpClient,
  text: string,
): Promise<string | undefined> {
  const mark = file.hasMark ? byteOrderMark : '';
  const limits = file.within === undefined ? {} : { within: file.within };
  if (file.text === undefined) {
    await writeAtomically(file.path, text, limits);
    return undefined;
  }
  const { mode } = await stat(file.path);
  if ((mode & 0o200) === 0) throw unusable(client.title, file.path, 'it may only be read');
  const old = mark + file.text;
  const backup = await backupPath(file.path, old);
  await writeAtomically(backup, old, { mode: mode & 0o777 });
  await writeAtomically(file.path, mark + text, limits);
  return backup;
}

/** The first name beside the file that is free, or has the same text. */
async function backupPath(path: string, old: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? `${path}.bak` : `${path}.bak${number}`;
    if (!(await isThere(candidate))) return candidate;
    const text = await readFile(candidate, 'utf8').catch(() => undefined);
    if (text === old) return candidate;
  }
}

async function explained<T>(client: McpClient, file: ClientFile, read: () => Promise<T>) {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof UneditableFileError)) throw error;
    throw unusable(client.title, file.path, error.message);
  }
}

function unusable(title: string, path: string, reason: string): UserError {
  return new UserError('client_file_unusable', `${path} stays as it is: ${reason}.`, {
    hint: `mend the file, or add the server in ${title} by hand: ktx mcp install --dry-run shows what`,
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** A link that leads nowhere is there. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
