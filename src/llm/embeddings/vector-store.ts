import type { DatabaseSync } from 'node:sqlite';
import { keyedHash, openSealedBytes, sealBytes } from '../../store/ownership/sealed-text.ts';
import type { EmbeddingPurpose, KtxEmbeddingPort } from '../port/embedding.ts';

/**
 * Vectors of texts in `.ktx/state.db`, so that no text is embedded twice. Only those of one model
 * are kept. A vector gives away much of its text, so it is sealed, and found by a keyed hash.
 */
export interface VectorStore {
  load(text: string): Float32Array | undefined;
  save(text: string, vector: Float32Array): void;
}

/** Vectors that nothing asked for in so many days are deleted. */
const daysKept = 90;

const createTable = `CREATE TABLE IF NOT EXISTS vectors (
  model TEXT, text TEXT, vector BLOB, used TEXT, PRIMARY KEY (model, text)) WITHOUT ROWID`;

/** Deletes the vectors of other models, and old ones. */
export function openVectorStore(
  db: DatabaseSync,
  { fingerprint }: Pick<KtxEmbeddingPort, 'fingerprint'>,
  purpose: EmbeddingPurpose,
): VectorStore {
  db.exec(createTable);
  const today = dayOf(Date.now());
  db.prepare('DELETE FROM vectors WHERE model NOT LIKE ? OR used < ?').run(
    `${fingerprint} %`,
    dayOf(Date.now() - daysKept * 86_400_000),
  );
  const model = `${fingerprint} ${purpose}`;
  const select = db.prepare('SELECT vector, used FROM vectors WHERE model = ? AND text = ?');
  const touch = db.prepare('UPDATE vectors SET used = ? WHERE model = ? AND text = ?');
  const insert = db.prepare('INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)');
  return {
    load(text) {
      const key = keyedHash(db, text);
      const row = select.get(model, key);
      const bytes = row && openSealedBytes(db, row['vector']);
      if (bytes === undefined) return undefined;
      if (row?.['used'] !== today) touch.run(today, model, key);
      return unpackVector(bytes);
    },
    save(text, vector) {
      insert.run(model, keyedHash(db, text), sealBytes(db, packVector(vector)), today);
    },
  };
}

const dayOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

/**
 * One byte for each number, and four for the unit: a quarter of the size, and nearly the same
 * angles.
 */
export function packVector(vector: Float32Array): Buffer {
  const largest = vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const unit = largest / 127;
  const bytes = Buffer.alloc(4 + vector.length);
  bytes.writeFloatLE(unit, 0);
  vector.forEach((number, index) => bytes.writeInt8(Math.round(number / unit), 4 + index));
  return bytes;
}

export function unpackVector(bytes: Buffer): Float32Array {
  const unit = bytes.readFloatLE(0);
  return Float32Array.from(
    { length: bytes.length - 4 },
    (_, index) => bytes.readInt8(4 + index) * unit,
  );
}
