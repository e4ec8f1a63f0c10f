import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { parseJson } from '../../lib/json.ts';
import { readConfinedFile } from '../../store/confined-file.ts';
import type { SharedChain } from '../../store/shared/shared-chain.ts';
import { largestText, undefinedIfMissing } from '../../store/files.ts';
import { auditFileName, type AuditLine, auditLineSchema } from './audit-line.ts';

/** A line as it stands in a file. */
export interface FoundLine {
  readonly file: string;
  /** From 1. */
  readonly number: number;
  /** The bytes without the end of the line. */
  readonly bytes: Buffer;
  /** Where the line begins in its file. */
  readonly start: number;
  /** False if the file ends within the line. */
  readonly isWhole: boolean;
  /** Undefined if it is no line of the audit. */
  readonly line: AuditLine | undefined;
  /** SHA-256, which the next line has as `prev`. */
  readonly hash: string;
}

/** A file of the audit, and how much of it there was at one moment. */
export interface AuditFile {
  readonly name: string;
  readonly bytes: number;
}

/** The files of the audit in a folder, the oldest first. */
export function listAuditFiles(folder: string): readonly AuditFile[] {
  try {
    return readdirSync(folder)
      .filter((name) => auditFileName.test(name))
      .toSorted()
      .map((name) => ({ name, bytes: lstatSync(join(folder, name)).size }));
  } catch (error) {
    return undefinedIfMissing(error as NodeJS.ErrnoException) ?? [];
  }
}

/** The lines of a file, as far as it went when it was listed. */
export async function readAuditFile(
  within: string,
  file: AuditFile,
): Promise<readonly FoundLine[]> {
  const path = join(within, file.name);
  const found = await readConfinedFile(path, { within, maxBytes: largestText });
  if (found.kind !== 'read')
    throw new UserError('audit_unreadable', `${path} cannot be read.`, {
      hint: found.kind === 'missing' ? 'It was there a moment ago.' : `It cannot: ${found.reason}.`,
    });
  return [...splitLines(file.name, found.bytes.subarray(0, file.bytes))];
}

/** What stands in place of a file for the lines of the shared database. */
const sharedName = 'ktx_audit';

/** The lines of the audit that several servers write together, in pieces. */
export async function* readSharedAudit(chain: SharedChain): AsyncGenerator<readonly FoundLine[]> {
  for (let after = 0; ;) {
    const links = await chain.read(after);
    const last = links.at(-1);
    if (last === undefined) return;
    after = last.seq;
    yield links.map(({ seq, text }) => {
      const bytes = Buffer.from(text);
      const { data: line } = auditLineSchema.safeParse(parseJson(text));
      const place = { file: sharedName, number: seq, start: 0, isWhole: true };
      return { ...place, bytes, line, hash: sha256(bytes) };
    });
  }
}

const newline = 0x0a;

function* splitLines(file: string, bytes: Buffer): Generator<FoundLine> {
  for (let start = 0, number = 1; start < bytes.length; number += 1) {
    const end = bytes.indexOf(newline, start);
    const isWhole = end >= 0;
    const piece = bytes.subarray(start, isWhole ? end : bytes.length);
    const { data: line } = auditLineSchema.safeParse(parseJson(piece.toString('utf8')));
    yield { file, number, bytes: piece, start, isWhole, line, hash: sha256(piece) };
    start += piece.length + 1;
  }
}
