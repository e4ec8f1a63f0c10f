import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { z } from 'zod';
import { shortHash } from '../lib/hash.ts';
import { failure } from './failure.ts';

/** A path in `ktx.yaml`. No system takes one with a NUL in it. */
export const pathSchema = z
  .string()
  .min(1)
  .refine((path) => !path.includes('\0'), 'a path has no NUL character');

export function statsOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Throws where the database of a connection cannot be a file with something in it. */
export function checkDatabaseFile(path: string, connection: string): void {
  const stats = statsOf(path);
  if (stats === undefined)
    throw failure(
      'warehouse_not_found',
      `The database file ${path} of connection "${connection}" does not exist.`,
    );
  if (!stats.isFile()) throw failure('not_a_database', `${path} is not a file.`);
  if (stats.size === 0) throw failure('not_a_database', `${path} has 0 bytes.`);
}

/** True where the first bytes of the file are these; false for one that cannot be read. */
export function startsLike(path: string, text: string): boolean {
  const bytes = Buffer.alloc(text.length);
  try {
    const file = openSync(path, 'r');
    try {
      return readSync(file, bytes) === bytes.length && bytes.equals(Buffer.from(text));
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}

/** Changes with the size or time of any of the files, of which some may be missing, and with `more`. */
export function fileMark(paths: readonly string[], more = ''): string {
  const marks = paths.map((path) => [path, statsOf(path)?.size, statsOf(path)?.mtimeMs]);
  return shortHash(JSON.stringify([marks, more]));
}
