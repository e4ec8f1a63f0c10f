import { newId } from '../../lib/id.ts';
import type { AuditEntry } from './audit-line.ts';
import type { AuditLog } from './audit-log.ts';
import { redactArguments } from './redact-arguments.ts';

/** What a client asked for. Its names and arguments are its own words. */
export interface AskedCall {
  readonly tool: string;
  readonly input: unknown;
  readonly client: { readonly name: string; readonly version: string } | undefined;
  /** Of W3C trace context, as the client sent it. */
  readonly traceparent: unknown;
}

/** What left, or would have. */
export interface AnsweredCall extends Pick<AuditEntry, 'connection' | 'query' | 'rows'> {
  readonly sql?: string | undefined;
  readonly bytes: number;
  /** `ok`, or the code of the error. */
  readonly outcome: string;
}

/** The record of one call. Both reject if they cannot be written; then nothing may leave. */
interface OpenCallRecord {
  started(): Promise<void>;
  answered(answer: AnsweredCall): Promise<void>;
}

/** Opens the record of a call. */
export type RecordCall = (asked: AskedCall) => OpenCallRecord;

/** For a client that runs ktx itself, over stdio. */
export const recordNothing: RecordCall = () => ({
  started: async () => undefined,
  answered: async () => undefined,
});

interface RecordedCaller extends Pick<AuditEntry, 'person' | 'token' | 'role'> {
  /** How arguments are kept. */
  readonly arguments: 'hash' | 'redacted';
}

/** Records the calls of one caller. */
export function recordInto(
  log: Pick<AuditLog, 'append' | 'hash'>,
  { arguments: kept, ...caller }: RecordedCaller,
): RecordCall {
  return ({ tool, input, client, traceparent }) => {
    const begun = performance.now();
    const asked = {
      call: newId('call'),
      ...caller,
      client: client === undefined ? '' : cut(`${client.name} ${client.version}`),
      ...traceOf(traceparent),
      tool: cut(tool),
      ...(kept === 'hash'
        ? { arguments_hash: log.hash(input ?? {}) }
        : { arguments: redactArguments(input ?? {}) }),
    };
    return {
      started: () => log.append({ kind: 'started', ...asked }),
      answered({ sql, ...answer }) {
        const ms = Math.round(performance.now() - begun);
        const statement = sql === undefined ? {} : { sql_hash: log.hash(sql) };
        return log.append({ kind: 'answered', ...asked, ...answer, ...statement, ms });
      },
    };
  };
}

const longestName = 100;

/** What a client says about itself, without what would break a line or a terminal. */
function cut(text: string): string {
  return text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').slice(0, longestName);
}

function traceOf(traceparent: unknown): { trace?: string } {
  const [, trace] =
    /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(String(traceparent)) ?? [];
  return trace === undefined ? {} : { trace };
}
