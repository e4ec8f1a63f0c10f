import { createHmac } from 'node:crypto';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import type { ChainLink, SharedChain } from '../../store/shared/shared-chain.ts';
import { sharedSecret } from '../../store/shared/shared-records.ts';
import type { ServeState } from '../shared/serve-state.ts';
import { type AuditHead, openAuditHead } from './audit-head.ts';
import type { AuditEntry } from './audit-line.ts';
import { type AuditLog, openAuditLog } from './audit-log.ts';

/** Lines that are written at once. */
const mostAtOnce = 500;

type OpenHead = ReturnType<typeof openAuditHead>;

interface QueuedLine extends PromiseWithResolvers<void> {
  readonly entry: AuditEntry;
}

/** The audit of a server: in files of its machine, or in the database that it shares. */
export async function openServerAudit(
  dir: string,
  env: HostEnvironment,
  { chain, records }: Pick<ServeState, 'chain' | 'records'>,
): Promise<AuditLog> {
  if (chain === undefined) return openAuditLog(dir, env);
  const key = await sharedSecret(await records(), 'audit');
  const head = openAuditHead(dir, env, 'shared');
  return {
    append: openAppender(chain, head),
    hash: (value) => createHmac('sha256', key).update(canonicalJson(value)).digest('hex'),
    [Symbol.dispose]: () => head.close(),
  };
}

/** Lines that come while others are written are written together. */
function openAppender(chain: SharedChain, head: OpenHead): AuditLog['append'] {
  const queued: QueuedLine[] = [];
  let isWriting = false;
  const write = async (batch: readonly QueuedLine[]): Promise<void> => {
    const at = new Date().toISOString();
    const noted = head.inspect((end) => end);
    const isThere = await isAsNoted(chain, noted);
    const last = await chain.append((end) => {
      let { seq, hash } =
        end === undefined ? { seq: 0, hash: '' } : { seq: end.seq, hash: sha256(end.text) };
      return batch.map(({ entry }) => {
        seq += 1;
        const text = JSON.stringify({ seq, prev: hash, at, ...entry });
        hash = sha256(text);
        return { seq, text };
      });
    });
    // The note of a line that is no longer there as it was stays: it is what shows that.
    if (last !== undefined && isThere) noteLine(head, last);
  };
  const flush = async (): Promise<void> => {
    isWriting = true;
    while (queued.length > 0) {
      const batch = queued.splice(0, mostAtOnce);
      try {
        await write(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        const failure = unwritten(error);
        for (const { reject } of batch) reject(failure);
      }
    }
    isWriting = false;
  };
  return (entry) => {
    const turn = { entry, ...Promise.withResolvers<void>() };
    queued.push(turn);
    if (!isWriting) void flush();
    return turn.promise;
  };
}

/** Whether what this machine wrote last is still there. */
async function isAsNoted(chain: SharedChain, { seq, hash }: AuditHead): Promise<boolean> {
  if (seq === 0) return true;
  const text = await chain.find(seq);
  return text !== undefined && sha256(text) === hash;
}

/** Another server of this machine may have noted a later line. */
function noteLine(head: OpenHead, { seq, text }: ChainLink): void {
  const hash = sha256(text);
  head.advance((end) => (end.seq > seq ? end : { seq, hash, file: '', bytes: 0 }));
}

function unwritten(cause: unknown): UserError {
  const message = 'The audit could not be written to serve.state, so nothing is answered.';
  return new UserError('audit_unwritten', message, {
    hint: 'Try again later. The person who runs the server: check the database.',
    retryable: true,
    cause,
  });
}
