import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { z } from 'zod';
import { shortHash } from '../lib/hash.ts';
import { warehouseError } from './warehouse-error.ts';

/** A path in `ktx.yaml`. No operating system takes a path with a NUL character. */
export const pathSchema = z
  .string()
  .min(1)
  .refine((path) => !path.includes('\0'), 'a path has no NUL character');

/** Undefined if there is no such file. */
export function fileStats(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Throws if the path is not a file with at least one byte. */
export function checkDatabaseFile(path: string, connection: string): void {
  const stats = fileStats(path);
  if (stats === undefined)
    throw warehouseError(
      'warehouse_not_found',
      `${path} does not exist (connection "${connection}").`,
    );
  if (!stats.isFile()) throw warehouseError('not_a_database', `${path} is not a file.`);
  if (stats.size === 0) throw warehouseError('not_a_database', `${path} has 0 bytes.`);
}

/** True if the file has this ASCII text there; false if it does not or cannot be read. */
export function hasFileSignature(
  path: string,
  { signature, at }: { readonly signature: string; readonly at: number },
): boolean {
  // Opening a pipe would wait for a writer.
  if (fileStats(path)?.isFile() !== true) return false;
  const bytes = Buffer.alloc(signature.length);
  try {
    const file = openSync(path, 'r');
    try {
      return (
        readSync(file, bytes, { position: at }) === bytes.length &&
        bytes.equals(Buffer.from(signature))
      );
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}

/**
 * Changes when a file's size or modification time changes, when a file appears or disappears, or
 * when `extra` changes.
 */
export function fileFingerprint(paths: readonly string[], extra = ''): string {
  const files = paths.map((path) => [path, fileStats(path)?.size, fileStats(path)?.mtimeMs]);
  return shortHash(JSON.stringify([files, extra]));
}
