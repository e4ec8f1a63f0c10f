import { isUtf8 } from 'node:buffer';
import { UserError } from '../lib/error.ts';
import { type ConfinedRead, readConfinedFile, readConfinedFileSync } from './confined-file.ts';
import { fileAccessError, largestText } from './files.ts';

/**
 * Like `readText`, for one of many files that people write: if it cannot be read, the text is a
 * lone surrogate and the reason, so that one bad file does not keep the others from being read. See
 * `whyUnreadable`.
 */
export async function readTextOrReason(path: string, within: string): Promise<string | undefined> {
  try {
    return textOrReason(await readConfinedFile(path, { within, maxBytes: largestText }));
  } catch (error) {
    return reasonOf(path, error);
  }
}

/** `readTextOrReason` for many small files in a row: see `readConfinedFileSync`. */
export function readTextOrReasonSync(path: string, within: string): string | undefined {
  try {
    return textOrReason(readConfinedFileSync(path, { within, maxBytes: largestText }));
  } catch (error) {
    return reasonOf(path, error);
  }
}

function textOrReason(found: ConfinedRead): string | undefined {
  if (found.kind === 'missing') return undefined;
  if (found.kind === 'refused') return `\uD800${found.reason}`;
  return isUtf8(found.bytes) ? found.bytes.toString('utf8') : '\uD800';
}

function reasonOf(path: string, error: unknown): string {
  const known = fileAccessError('read', path, error);
  if (!(known instanceof UserError)) throw known;
  return `\uD800${known.message.replace(`${path} `, 'it ').replace(/\.$/, '')}`;
}

/**
 * The reason in a text of `readTextOrReason`, as the end of a sentence; undefined if the file could
 * be read.
 */
export function whyUnreadable(text: string): string | undefined {
  return text.isWellFormed() ? undefined : text.slice(1) || 'it is not valid UTF-8';
}
