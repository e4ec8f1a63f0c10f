import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureStateDirectory } from '../../store/directories.ts';

const largestLog = 10_000_000;

/** Appends a request and what came of it to `.ktx/logs/llm.jsonl`, which only its owner can read; one older file is kept. */
export function recordRequest(projectDir: string, entry: object): void {
  const { logs } = ensureStateDirectory(projectDir);
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const path = join(logs, 'llm.jsonl');
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > largestLog) renameSync(path, join(logs, 'llm.1.jsonl'));
  appendFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`, { mode: 0o600 });
}
