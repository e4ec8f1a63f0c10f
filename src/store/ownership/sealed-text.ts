import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

const algorithm = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

/** The keys of open databases. They are kept outside of the project, so that a copy of `.ktx` alone shows no values. */
const keys = new WeakMap<DatabaseSync, Buffer>();

export function useKey(db: DatabaseSync, key: Buffer): void {
  keys.set(db, key);
}

/** The text as it is stored: encrypted, or as it is in a database that `openState` did not open. */
export function sealText(db: DatabaseSync, text: string): string | Buffer {
  const key = keys.get(db);
  if (key === undefined) return text;
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv(algorithm, key, nonce);
  const sealed = [cipher.update(text, 'utf8'), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]);
}

/** Undefined if the value was sealed with another key, or was changed. */
export function openSealedText(db: DatabaseSync, stored: unknown): string | undefined {
  const key = keys.get(db);
  if (key === undefined) return typeof stored === 'string' ? stored : undefined;
  if (!(stored instanceof Uint8Array) || stored.length < nonceLength + tagLength) return undefined;
  try {
    const decipher = createDecipheriv(algorithm, key, stored.subarray(0, nonceLength));
    decipher.setAuthTag(stored.subarray(nonceLength, nonceLength + tagLength));
    const text = [decipher.update(stored.subarray(nonceLength + tagLength)), decipher.final()];
    return Buffer.concat(text).toString('utf8');
  } catch {
    return undefined;
  }
}
