import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { parseJson } from '../../lib/json.ts';
import { openSealedSecret, sealSecret } from './sealed-secret.ts';
import type { StateDatabase, StateRow } from './state-database.ts';

/** Where a record is. */
export interface RecordPlace {
  readonly kind: string;
  /** Never a secret: whoever keeps one keeps its hash. */
  readonly id: string;
}

export interface NewRecord extends RecordPlace {
  readonly body: object;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** What is removed together. */
  readonly family?: string | undefined;
}

/** The last moment that a date can have, in milliseconds. */
export const keptForever = 8_640_000_000_000_000;

export interface SharedRecord {
  readonly id: string;
  readonly body: unknown;
  /** Milliseconds since 1970; undefined as long as nobody used it. */
  readonly used: number | undefined;
}

/** Records that several servers share. What has expired is not there. */
export type SharedRecords = ReturnType<typeof openSharedRecords>;

export const recordTables = [
  `CREATE TABLE IF NOT EXISTS ktx_records (
    kind TEXT NOT NULL, id TEXT NOT NULL, family TEXT, body TEXT NOT NULL,
    expires BIGINT NOT NULL, used BIGINT, PRIMARY KEY (kind, id))`,
  'CREATE INDEX IF NOT EXISTS ktx_records_family ON ktx_records (family)',
  'CREATE INDEX IF NOT EXISTS ktx_records_expires ON ktx_records (expires)',
];

const select = 'SELECT id, body, used FROM ktx_records';
const put = `INSERT INTO ktx_records (kind, id, family, body, expires) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (kind, id) DO UPDATE
  SET family = excluded.family, body = excluded.body, expires = excluded.expires`;
const add = `INSERT INTO ktx_records (kind, id, family, body, expires) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (kind, id) DO NOTHING RETURNING id`;
const use = `UPDATE ktx_records SET used = $3
  WHERE kind = $1 AND id = $2 AND used IS NULL AND expires > $3 RETURNING id`;
const removeOne = 'DELETE FROM ktx_records WHERE kind = $1 AND id = $2 RETURNING id';
const removeFamily = 'DELETE FROM ktx_records WHERE family = $1 RETURNING id';
const removeOld = 'DELETE FROM ktx_records WHERE expires <= $1';

/** Milliseconds between two times that what has expired is removed. */
const cleanupInterval = 60_000;

export function openSharedRecords(db: StateDatabase, now: () => number = () => Date.now()) {
  let nextCleanup = 0;
  const cleanUp = async (): Promise<void> => {
    if (now() < nextCleanup) return;
    nextCleanup = now() + cleanupInterval;
    await db.run(removeOld, [now()]);
  };
  const values = ({ kind, id, family, body, expires }: NewRecord) =>
    [kind, id, family ?? null, JSON.stringify(body), expires] as const;
  return {
    async find({ kind, id }: RecordPlace): Promise<SharedRecord | undefined> {
      const sql = `${select} WHERE kind = $1 AND id = $2 AND expires > $3`;
      const [row] = await db.run(sql, [kind, id, now()]);
      return row && readRecord(row);
    },
    async list(kind: string): Promise<readonly SharedRecord[]> {
      const sql = `${select} WHERE kind = $1 AND expires > $2 ORDER BY id`;
      return (await db.run(sql, [kind, now()])).map(readRecord);
    },
    /** Writes a record, or changes it; whether it was used stays. */
    async put(record: NewRecord): Promise<void> {
      await cleanUp();
      await db.run(put, values(record));
    },
    /** Writes a record that is new. False if there is one, even an expired one. */
    add: async (record: NewRecord): Promise<boolean> =>
      (await db.run(add, values(record))).length > 0,
    /** Uses a record up. True for one caller only, whoever else tries at the same time. */
    use: async ({ kind, id }: RecordPlace): Promise<boolean> =>
      (await db.run(use, [kind, id, now()])).length > 0,
    /** False if there is none. */
    remove: async ({ kind, id }: RecordPlace): Promise<boolean> =>
      (await db.run(removeOne, [kind, id])).length > 0,
    /** How many were removed. */
    removeFamily: async (family: string): Promise<number> =>
      (await db.run(removeFamily, [family])).length,
  };
}

function readRecord({ id, body, used }: StateRow): SharedRecord {
  return {
    id: String(id),
    body: parseJson(String(body)),
    used: used === null ? undefined : Number(used),
  };
}

/**
 * A secret that all servers have: the first makes it. With a key it is kept encrypted, and one that
 * was plain is so from then on. Throws `state_key_wrong` if it was kept with another key.
 */
export async function sharedSecret(
  records: SharedRecords,
  { id, key }: { readonly id: string; readonly key: string | undefined },
): Promise<string> {
  const place = { kind: 'Secret', id };
  const fresh = randomBytes(32).toString('base64url');
  const kept = { ...place, expires: keptForever };
  await records.add({ ...kept, body: secretBody(fresh, key) });
  const { data: found } = secretSchema.safeParse((await records.find(place))?.body);
  if (found?.key !== undefined) {
    if (key !== undefined) await records.put({ ...kept, body: secretBody(found.key, key) });
    return found.key;
  }
  const { sealed } = found ?? {};
  const opened = key && sealed && openSealedSecret(sealed, key);
  if (opened === undefined || opened === '') throw stateKeyWrong(key);
  return opened;
}

const secretSchema = z.object({ key: z.string().optional(), sealed: z.string().optional() });

function secretBody(text: string, key: string | undefined) {
  return key === undefined ? { key: text } : { sealed: sealSecret(text, key) };
}

function stateKeyWrong(key: string | undefined): UserError {
  const message =
    key === undefined
      ? 'A secret of the servers is encrypted, and ktx.yaml names no key for it.'
      : 'A secret of the servers is encrypted with another key than that of serve.state_key.';
  return new UserError('state_key_wrong', message, {
    hint: 'Give serve.state_key the key it was encrypted with. If that is lost: delete the records of the kind Secret from ktx_records, and logins that are under way begin again.',
    exitCode: 4,
  });
}
