import { shortHash } from '../../lib/hash.ts';
import { isUnedited, type ContentHash, type MergeBase } from './merge-base.ts';

interface WholeFileInput {
  /** Its key in the base. */
  readonly key: string;
  /** What the claims say; undefined if they no longer have it. */
  readonly wanted: string | undefined;
  /** The file on disk; undefined if there is none. */
  readonly text: string | undefined;
  readonly base: MergeBase;
  /** True if it is recorded that a person deleted the file. */
  readonly isRemoved: boolean;
}

interface WholeFileMerge {
  /** The file as it has to be; undefined for no file. */
  readonly text: string | undefined;
  /** What the base has to record: nothing if the file is not ktx's. */
  readonly hash: readonly ContentHash[] | undefined;
  /** True if a person wrote or changed the file, so that it stays as it is. */
  readonly isKept: boolean;
  /** True if a person deleted the file, so that it stays out. */
  readonly isRemoved: boolean;
}

/**
 * Brings a file up to date that belongs as a whole to ktx or to a person. Pure. One that is as ktx
 * left it, or as ktx would write it, is replaced or removed. One that a person wrote, changed or
 * deleted stays so.
 */
export function mergeWholeFile({
  key,
  wanted,
  text,
  base,
  isRemoved,
}: WholeFileInput): WholeFileMerge {
  const nothing = { text: undefined, hash: undefined, isKept: false, isRemoved: false };
  const written = {
    ...nothing,
    text: wanted,
    hash: wanted === undefined ? undefined : [hashFile(wanted)],
  };
  if (text === undefined) {
    if (wanted === undefined) return nothing;
    const isDeleted = isRemoved || !isUnedited(base, key, null);
    return isDeleted ? { ...nothing, hash: base.get(key), isRemoved: true } : written;
  }
  if (text === wanted || isUnedited(base, key, hashFile(text))) return written;
  const hash = wanted === undefined ? undefined : base.get(key);
  return { ...nothing, text, hash, isKept: true };
}

/** The hash of a file's text, whatever its line ends. */
export function hashFile(text: string): string {
  // A checkout can turn every line end into two characters.
  return shortHash(text.replaceAll('\r\n', '\n'), 8);
}
