import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { privateFileMode } from '../../store/ownership/private-files.ts';
import type { AuditHead } from './audit-head.ts';
import { listAuditFiles } from './read-audit.ts';
import type { AuditBody } from './audit-line.ts';

/** Appends the lines, and first says what a crash left behind. Returns the new head. */
export function appendLines(
  folder: string,
  last: AuditHead,
  entries: readonly AuditBody[],
): AuditHead {
  requireKnownEnd(folder, last);
  const at = new Date().toISOString();
  const today = `${at.slice(0, 10)}.jsonl`;
  // The clock may have been set back.
  const file = today < last.file ? last.file : today;
  const isOlderThere = last.file !== file && existsSync(join(folder, last.file));
  let head = last;
  for (const name of last.file !== '' && isOlderThere ? [last.file, file] : [file])
    head = inFile(join(folder, name), (descriptor) =>
      appendTo({ descriptor, name, at }, head, name === file ? entries : []),
    );
  return head;
}

/** Lines that are there before the first one were written by another machine or person. */
function requireKnownEnd(folder: string, { seq }: AuditHead): void {
  if (seq > 0 || listAuditFiles(folder).every(({ bytes }) => bytes === 0)) return;
  const message = 'Where the audit in .ktx/audit ends is not known on this machine.';
  throw new UserError('audit_end_unknown', message, {
    hint: 'Move the folder to a safe place. The server begins a new one.',
    exitCode: 4,
  });
}

interface OpenFile {
  readonly descriptor: number;
  readonly name: string;
  readonly at: string;
}

function appendTo(
  { descriptor, name, at }: OpenFile,
  head: AuditHead,
  entries: readonly AuditBody[],
): AuditHead {
  const known = head.file === name ? head.bytes : 0;
  const { size } = fstatSync(descriptor);
  const resumed = size > known ? [describeTail(descriptor, known, size)] : [];
  const bodies: readonly AuditBody[] = [...resumed.map(({ body }) => body), ...entries];
  if (bodies.length === 0) return head;
  let { seq, hash } = head;
  let text = resumed.some(({ isTorn }) => isTorn) ? '\n' : '';
  for (const body of bodies) {
    seq += 1;
    const line = JSON.stringify({ seq, prev: hash, at, ...body });
    hash = sha256(line);
    text += `${line}\n`;
  }
  const bytes = Buffer.from(text);
  writeWhole(descriptor, bytes, size);
  return { seq, hash, file: name, bytes: size + bytes.length };
}

/** What is in a file after the last line that counts. */
function describeTail(descriptor: number, from: number, to: number) {
  const tail = Buffer.alloc(to - from);
  for (let read = 0; read < tail.length;) {
    const count = readSync(descriptor, tail, read, tail.length - read, from + read);
    if (count === 0) break;
    read += count;
  }
  const body = {
    kind: 'resumed' as const,
    unfinished_bytes: tail.length,
    unfinished_sha256: sha256(tail),
  };
  return { body, isTorn: tail.at(-1) !== newline };
}

const newline = 0x0a;

/** Writes all bytes to disk at the end of the file, or leaves the file as it was. */
function writeWhole(descriptor: number, bytes: Buffer, size: number): void {
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
    fdatasyncSync(descriptor);
  } catch (error) {
    ftruncateSync(descriptor, size);
    throw error;
  }
}

function inFile<T>(path: string, run: (descriptor: number) => T): T {
  const { O_APPEND, O_CREAT, O_RDWR } = constants;
  // Windows does not have these.
  const safely = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const flags = O_APPEND | O_CREAT | O_RDWR | safely;
  const descriptor = openSync(path, flags, privateFileMode);
  try {
    if (!fstatSync(descriptor).isFile()) throw new Error(`${path} is not a file`);
    return run(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
