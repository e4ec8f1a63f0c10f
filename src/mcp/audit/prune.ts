import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../lib/hash.ts';
import { parseJson } from '../../lib/json.ts';
import { readConfinedFileSync } from '../../store/confined-file.ts';
import { largestText } from '../../store/files.ts';
import type { ChainLink, SharedChain } from '../../store/shared/shared-chain.ts';
import { auditLineSchema, type PrunedBody } from './audit-line.ts';
import { type AuditFile, listAuditFiles } from './read-audit.ts';

/** The first day that is kept (UTC), as `2026-11-27`. */
export function firstKeptDay(keepDays: number, now: number = Date.now()): string {
  return new Date(now - keepDays * 86_400_000).toISOString().slice(0, 10);
}

/** What leaves the audit, and the line that takes its place. */
export interface OldFiles {
  readonly files: readonly AuditFile[];
  readonly body: PrunedBody;
}

/**
 * The files of older days; undefined if there are none, or if their end is no line of such a day:
 * who can write to the project gives a file any name.
 */
export function findOldFiles(folder: string, firstDay: string): OldFiles | undefined {
  const files = listAuditFiles(folder).filter(({ name }) => name < firstDay);
  const last = files.findLast(({ bytes }) => bytes > 0);
  const end = last && readEnd(folder, last);
  const body = end !== undefined && isOlder(end, firstDay) ? describeLine(end) : undefined;
  return body && { files, body };
}

function readEnd(within: string, { name }: AuditFile): string | undefined {
  const read = readConfinedFileSync(join(within, name), { within, maxBytes: largestText });
  if (read.kind !== 'read') return undefined;
  const text = read.bytes.toString('utf8').trimEnd();
  return text.slice(text.lastIndexOf('\n') + 1);
}

function describeLine(text: string): PrunedBody | undefined {
  const { data: line } = auditLineSchema.safeParse(parseJson(text));
  return line && { kind: 'pruned', through: line.seq, through_sha256: sha256(text) };
}

/** The oldest first. What cannot be removed stays: the audit is whole with it too. */
export function removeFiles(folder: string, files: readonly AuditFile[]): void {
  for (const { name } of files) {
    try {
      rmSync(join(folder, name), { force: true });
    } catch {
      return;
    }
  }
}

/** The last line of older days that several servers wrote; undefined if there is none. */
export async function findOldLines(
  chain: SharedChain,
  firstDay: string,
): Promise<PrunedBody | undefined> {
  let last: ChainLink | undefined;
  for (let links = await chain.read(0); links.length > 0; links = await chain.read(last.seq)) {
    const kept = links.findIndex(({ text }) => !isOlder(text, firstDay));
    last = links.at(kept === -1 ? -1 : kept - 1);
    if (kept === 0) return undefined;
    if (kept > 0 || last === undefined) break;
  }
  return last && describeLine(last.text);
}

function isOlder(text: string, firstDay: string): boolean {
  const { data: line } = auditLineSchema.safeParse(parseJson(text));
  return line !== undefined && line.at < firstDay;
}
