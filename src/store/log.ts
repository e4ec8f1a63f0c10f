import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFolder, ensureStateDirectory } from './directories.ts';
import { fileAccessError } from './files.ts';
import { createPrivateFile } from './ownership/private-files.ts';

/** Bytes after which a new file begins. */
const maxLogSize = 10_000_000;

/**
 * Appends one line with the time to `.ktx/logs/<name>.jsonl`, which only its owner can read. One
 * older file is kept.
 */
export function appendToLog(
  projectDir: string,
  name: 'tools' | 'llm' | 'http' | 'web',
  entry: object,
): void {
  const { logs } = ensureStateDirectory(projectDir);
  const path = join(logs, `${name}.jsonl`);
  try {
    createPrivateFolder(logs);
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxLogSize) renameSync(path, join(logs, `${name}.1.jsonl`));
    createPrivateFile(path);
    appendFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`);
  } catch (error) {
    throw fileAccessError('written', path, error);
  }
}
