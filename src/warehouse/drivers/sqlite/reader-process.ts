import { messageOf } from '../../../lib/error.ts';
import { openReader, type Reader, type ReadResult } from './reader.ts';

/** What the driver asks of its reader process. */
export type ReaderRequest =
  | { readonly kind: 'open'; readonly path: string; readonly extraFunctions: readonly string[] }
  | { readonly kind: 'query'; readonly sql: string; readonly maxRows: number }
  | { readonly kind: 'introspect'; readonly sql: string };

export type ReaderReply =
  | { readonly ok: true; readonly result?: ReadResult; readonly records?: Record<string, unknown>[] }
  | { readonly ok: false; readonly message: string };

let reader: Reader | undefined;

function answer(request: ReaderRequest): ReaderReply {
  if (request.kind === 'open') {
    reader = openReader(request.path, request.extraFunctions);
    return { ok: true };
  }
  if (reader === undefined) throw new Error('the reader has no open database');
  if (request.kind === 'introspect') return { ok: true, records: reader.introspect(request.sql) };
  return { ok: true, result: reader.query(request.sql, request.maxRows) };
}

process.on('message', (request: ReaderRequest) => {
  let reply: ReaderReply;
  try {
    reply = answer(request);
  } catch (error) {
    reply = { ok: false, message: messageOf(error) };
  }
  process.send?.(reply);
});
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
