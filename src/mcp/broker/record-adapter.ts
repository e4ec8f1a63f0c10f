import { z } from 'zod';
import { sha256 } from '../../lib/hash.ts';
import { isRecord } from '../../lib/json.ts';
import type { SharedRecord, SharedRecords } from '../../store/shared/shared-records.ts';

/** What a model of the authorization server keeps: a code, a token, a grant, a client. */
type ModelPayload = Readonly<Record<string, unknown>>;

/** Seconds that a client which registered itself is kept. */
const clientLifetime = 180 * 24 * 3600;

/**
 * Keeps the models of the authorization server. The ids of codes, tokens and sessions are their
 * secrets: only hashes of them are kept.
 */
export function openRecordAdapter(
  records: SharedRecords,
  refuseReplay: () => Error,
): (model: string) => object {
  return (model) => {
    const place = (id: string) => ({ kind: model, id: hashOf(model, id) });
    const byUid = (uid: string) => ({ kind: `${model} uid`, id: hashOf(`${model} uid`, uid) });
    return {
      async upsert(id: string, payload: ModelPayload, seconds?: number): Promise<void> {
        const expires = Date.now() + (seconds ?? clientLifetime) * 1000;
        const { jti: _jti, grantId, uid } = payload;
        const family = familyOf(model === 'Grant' ? id : grantId);
        await records.put({ ...place(id), body: withoutSecrets(payload), expires, family });
        if (model === 'Session' && typeof uid === 'string')
          await records.put({ ...byUid(uid), body: { key: place(id).id }, expires });
      },
      async find(id: string): Promise<ModelPayload | undefined> {
        const payload = payloadOf(await records.find(place(id)));
        // A client has no such id, and one that it does not know is a fault.
        return payload && (model === 'Client' ? payload : { ...payload, jti: id });
      },
      async findByUid(uid: string): Promise<ModelPayload | undefined> {
        const body = (await records.find(byUid(uid)))?.body;
        const key = isRecord(body) ? body['key'] : undefined;
        return typeof key === 'string'
          ? payloadOf(await records.find({ kind: model, id: key }))
          : undefined;
      },
      findByUserCode: async () => undefined,
      /** Throws for all but the first of those who try at once. */
      async consume(id: string): Promise<void> {
        if (!(await records.use(place(id)))) throw refuseReplay();
      },
      destroy: async (id: string) => void (await records.remove(place(id))),
      revokeByGrantId: async (grantId: string) =>
        void (await records.removeFamily(familyOf(grantId) ?? '')),
    };
  };
}

/** A login of a person with one client. */
export interface SignedIn {
  /** Removes it with its codes and tokens. */
  readonly end: () => Promise<number>;
  readonly account: string;
  readonly client: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

const grantSchema = z.object({
  accountId: z.string(),
  clientId: z.string(),
  iat: z.number(),
});

/** Who has tokens. */
export async function listSignedIn(records: SharedRecords): Promise<readonly SignedIn[]> {
  return (await records.list('Grant')).flatMap(({ id, body }) => {
    const { data } = grantSchema.safeParse(body);
    if (data === undefined) return [];
    const { accountId: account, clientId: client, iat } = data;
    // The record of a grant has the name of its family.
    return [{ account, client, since: iat * 1000, end: () => records.removeFamily(id) }];
  });
}

function hashOf(model: string, id: string): string {
  return sha256(`${model} ${id}`);
}

/** The record of the grant is one of the family, and names it. */
function familyOf(grantId: unknown): string | undefined {
  return typeof grantId === 'string' ? hashOf('Grant', grantId) : undefined;
}

function withoutSecrets({ jti: _jti, ...payload }: ModelPayload): object {
  const { session } = payload;
  if (!isRecord(session)) return payload;
  const { cookie: _cookie, ...kept } = session;
  return { ...payload, session: kept };
}

function payloadOf(record: SharedRecord | undefined): ModelPayload | undefined {
  if (record === undefined || !isRecord(record.body)) return undefined;
  const consumed = record.used === undefined ? {} : { consumed: Math.floor(record.used / 1000) };
  return { ...record.body, ...consumed };
}
