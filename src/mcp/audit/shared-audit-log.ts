import { createHmac } from 'node:crypto';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import type { ChainLink, SharedChain } from '../../store/shared/shared-chain.ts';
import { sharedSecret } from '../../store/shared/shared-records.ts';
import type { ServeState } from '../shared/serve-state.ts';
import { type AuditHead, openAuditHead } from './audit-head.ts';
import type { AuditBody, AuditEntry, PrunedBody } from './audit-line.ts';
import { type AuditLog, openAuditLog } from './audit-log.ts';
import { openBatches } from './batches.ts';
import { findOldLines, firstKeptDay } from './prune.ts';

type OpenHead = ReturnType<typeof openAuditHead>;

/** The audit of a server: in files of its machine, or in the database that it shares. */
export async function openServerAudit(
  dir: string,
  env: HostEnvironment,
  {
    chain,
    records,
    secretKey,
    keepDays,
  }: Pick<ServeState, 'chain' | 'records' | 'secretKey'> & { keepDays?: number },
): Promise<AuditLog> {
  if (chain === undefined) return openAuditLog(dir, env, keepDays);
  const key = await sharedSecret(await records(), { id: 'audit', key: await secretKey() });
  const head = openAuditHead(dir, env, 'shared');
  return {
    append: openAppender(chain, head, keepDays),
    hash: (value) => createHmac('sha256', key).update(canonicalJson(value)).digest('hex'),
    [Symbol.dispose]: () => head.close(),
  };
}

function openAppender(
  chain: SharedChain,
  head: OpenHead,
  keepDays: number | undefined,
): AuditLog['append'] {
  let prunedOn: string | undefined;
  /** What is too old by now; asked until a day has had its answer written. */
  const findOldOnce = async (): Promise<PrunedBody | undefined> => {
    if (keepDays === undefined || prunedOn === firstKeptDay(0)) return undefined;
    return findOldLines(chain, firstKeptDay(keepDays));
  };
  const write = async (entries: readonly AuditEntry[]): Promise<void> => {
    const at = new Date().toISOString();
    const noted = head.inspect((end) => end);
    const isThere = await isAsNoted(chain, noted);
    const old = await findOldOnce();
    const bodies: readonly AuditBody[] = old === undefined ? entries : [...entries, old];
    const last = await chain.append((end) => {
      let { seq, hash } =
        end === undefined ? { seq: 0, hash: '' } : { seq: end.seq, hash: sha256(end.text) };
      return bodies.map((entry) => {
        seq += 1;
        const text = JSON.stringify({ seq, prev: hash, at, ...entry });
        hash = sha256(text);
        return { seq, text };
      });
    });
    // The note of a line that is no longer there as it was stays: it is what shows that.
    if (last !== undefined && isThere) noteLine(head, last);
    // Only now does a line say what is missing.
    if (old !== undefined) await chain.removeThrough(old.through);
    prunedOn = firstKeptDay(0);
  };
  return openBatches((entries) =>
    write(entries).catch((error: unknown) => {
      throw unwritten(error);
    }),
  );
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
