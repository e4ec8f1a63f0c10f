import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';

const algorithm = 'aes-256-gcm';
/** In bytes. */
const lengths = { salt: 16, nonce: 12, tag: 16, key: 32 };

/** Encrypts a text with what a person gave as key, of any length. */
export function sealSecret(text: string, key: string): string {
  const salt = randomBytes(lengths.salt);
  const nonce = randomBytes(lengths.nonce);
  const cipher = createCipheriv(algorithm, scryptSync(key, salt, lengths.key), nonce);
  const sealed = [cipher.update(text, 'utf8'), cipher.final()];
  return Buffer.concat([salt, nonce, cipher.getAuthTag(), ...sealed]).toString('base64url');
}

/** Undefined if it was sealed with another key, or was changed. */
export function openSealedSecret(sealed: string, key: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  const [nonceAt, tagAt] = [lengths.salt, lengths.salt + lengths.nonce];
  const textAt = tagAt + lengths.tag;
  if (bytes.length < textAt) return undefined;
  try {
    const derived = scryptSync(key, bytes.subarray(0, nonceAt), lengths.key);
    const decipher = createDecipheriv(algorithm, derived, bytes.subarray(nonceAt, tagAt));
    decipher.setAuthTag(bytes.subarray(tagAt, textAt));
    const text = [decipher.update(bytes.subarray(textAt)), decipher.final()];
    return Buffer.concat(text).toString('utf8');
  } catch {
    return undefined;
  }
}
