import { readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { shortHash } from '../../../../lib/hash.ts';
import { warehouseError } from '../../../warehouse-error.ts';

interface ArchiveMember {
  readonly name: string;
  /** Where it was written. */
  readonly path: string;
}

const mebibyte = 2 ** 20;
/** An archive is unpacked in memory. */
const largestArchive = 256 * mebibyte;
const largestContent = 1024 * mebibyte;

/** Writes the members that `isWanted` into the folder, by names that an archive cannot choose. */
export async function extractMembers(
  archive: string,
  folder: string,
  isWanted: (name: string) => boolean,
): Promise<readonly ArchiveMember[]> {
  await requireSmallArchive(archive, largestContent);
  const { unzipSync } = await import('fflate');
  const content = unzipSync(await readFile(archive), {
    filter: ({ name }) => isWanted(name) && !isHidden(name),
  });
  return Promise.all(
    Object.entries(content).map(async ([name, bytes]) => {
      const path = join(folder, `${shortHash(`${archive}\n${name}`)}-${safeName(name)}`);
      await writeFile(path, bytes, { mode: 0o600 });
      return { name, path };
    }),
  );
}

/** Throws if a zip file, which a workbook is too, would not fit into memory. */
export async function requireSmallArchive(archive: string, largest: number): Promise<void> {
  const { size } = await stat(archive);
  if (size > largestArchive) throw tooLargeError(archive, largestArchive);
  const { unzipSync } = await import('fflate');
  let total = 0;
  const countSize = ({ originalSize }: { readonly originalSize: number }): boolean => {
    total += originalSize;
    return false;
  };
  unzipSync(await readFile(archive), { filter: countSize });
  if (total > largest) throw tooLargeError(archive, largest);
}

function tooLargeError(archive: string, largest: number): Error {
  const limit = `${largest / mebibyte} MiB`;
  return warehouseError('not_a_database', `${archive} could not be loaded: it is above ${limit}.`, {
    hint: 'Unpack it, or save it as CSV or Parquet.',
  });
}

function isHidden(name: string): boolean {
  return name.split('/').some((part) => part.startsWith('.') || part === '__MACOSX');
}

/** Keeps the extension, which tells the format. */
function safeName(name: string): string {
  return basename(name)
    .replaceAll(/[^A-Za-z0-9.]+/g, '_')
    .slice(-60);
}
