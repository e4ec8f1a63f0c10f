import { hash } from 'node:crypto';

export function sha256(text: string | Uint8Array): string {
  return hash('sha256', text);
}

/** The first `length` hex digits of the SHA-256; for names and change marks, not for security. */
export function shortHash(text: string, length = 12): string {
  return sha256(text).slice(0, length);
}
