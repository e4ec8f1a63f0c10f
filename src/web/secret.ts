import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits, for a URL. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Of equal length for every text, so that two can be compared in constant time. */
export function hashText(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
