import { appendFile, mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureStateDirectory } from '../store/directories.ts';

const largestLog = 10_000_000;
const longestInput = 4000;

export interface CallRecord {
  readonly run: string;
  readonly call: string;
  readonly tool: string;
  readonly input: unknown;
  readonly ms: number;
  readonly [more: string]: unknown;
}

/** Appends one line to `.ktx/logs/tools.jsonl`, which only its owner can read; one older file is kept. */
export async function recordCall(projectDir: string, record: CallRecord): Promise<void> {
  const { logs } = ensureStateDirectory(projectDir);
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const path = join(logs, 'tools.jsonl');
  const size = await stat(path).then(({ size: bytes }) => bytes, absent);
  if (size > largestLog) await rename(path, join(logs, 'tools.1.jsonl')).catch(absent);
  const input = JSON.stringify(record.input ?? null);
  const kept = input.length > longestInput ? `${input.slice(0, longestInput)}…` : record.input;
  const line = { at: new Date().toISOString(), ...record, input: kept, ms: Math.round(record.ms) };
  await appendFile(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
}

function absent(error: NodeJS.ErrnoException): number {
  if (error.code === 'ENOENT') return 0;
  throw error;
}
