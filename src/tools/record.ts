import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureStateDirectory } from '../store/directories.ts';
import { inaccessible } from '../store/files.ts';

const largestLog = 10_000_000;

/** Appends one line to `.ktx/logs/tools.jsonl`, which only its owner can read; one older file is kept. */
export function recordCall(projectDir: string, call: object): void {
  const { logs } = ensureStateDirectory(projectDir);
  const path = join(logs, 'tools.jsonl');
  try {
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > largestLog) renameSync(path, join(logs, 'tools.1.jsonl'));
    appendFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), ...call })}\n`, { mode: 0o600 });
  } catch (error) {
    throw inaccessible('written', path, error);
  }
}
