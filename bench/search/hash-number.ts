import { createHash } from 'node:crypto';

/** A number that depends on the text alone. */
export function hashNumber(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}
