import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

const algorithm = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

/**
 * The keys of open databases. They are kept outside of the project, so that a copy of `.ktx` alone
 * shows no values.
 */
const keys = new WeakMap<DatabaseSync, KeyObject>();

export function useKey(db: DatabaseSync, key: Buffer): void {
  keys.set(db, createSecretKey(key));
}

/** The text as it is stored: encrypted, or as it is in a database that `openState` did not open. */
export function sealText(db: DatabaseSync, text: string): string | Buffer {
  return keys.has(db) ? sealBytes(db, Buffer.from(text, 'utf8')) : text;
}

/** Undefined if the value was sealed with another key, or was changed. */
export function openSealedText(db: DatabaseSync, stored: unknown): string | undefined {
  if (!keys.has(db)) return typeof stored === 'string' ? stored : undefined;
  return openSealedBytes(db, stored)?.toString('utf8');
}

/** As `sealText`, for bytes. */
export function sealBytes(db: DatabaseSync, bytes: Buffer): Buffer {
  const key = keys.get(db);
  if (key === undefined) return bytes;
  const nonce = nextNonce();
  const cipher = createCipheriv(algorithm, key, nonce);
  const sealed = [cipher.update(bytes), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]);
}

/** Random bytes for nonces that are not used yet: many at once cost as much as one. */
const noncePool = Buffer.alloc(512 * nonceLength);
let noncesUsed = noncePool.length;

function nextNonce(): Buffer {
  if (noncesUsed === noncePool.length) {
    randomFillSync(noncePool);
    noncesUsed = 0;
  }
  const nonce = Buffer.from(noncePool.subarray(noncesUsed, noncesUsed + nonceLength));
  noncesUsed += nonceLength;
  return nonce;
}

/** As `openSealedText`, for bytes. */
export function openSealedBytes(db: DatabaseSync, stored: unknown): Buffer | undefined {
  const key = keys.get(db);
  if (!(stored instanceof Uint8Array)) return undefined;
  if (key === undefined) return Buffer.from(stored);
  if (stored.length < nonceLength + tagLength) return undefined;
  try {
    const decipher = createDecipheriv(algorithm, key, stored.subarray(0, nonceLength));
    decipher.setAuthTag(stored.subarray(nonceLength, nonceLength + tagLength));
    const bytes = [decipher.update(stored.subarray(nonceLength + tagLength)), decipher.final()];
    return Buffer.concat(bytes);
  } catch {
    return undefined;
  }
}

/** A name for a text that says nothing about the text to whoever lacks the key. */
export function keyedHash(db: DatabaseSync, text: string): string {
  return createHmac('sha256', keys.get(db) ?? '')
    .update(text)
    .digest('base64');
}
