import { UserError, type UserErrorOptions } from '../lib/error.ts';

/** Every way in which a warehouse fails: what to type next, the exit code, whether to try again. */
const failures = {
  warehouse_auth: { exitCode: 4, hint: 'Check user and password of the connection; a password is given as password: env:NAME.' },
  warehouse_unreachable: { retryable: true, hint: 'Check host, port and network of the connection, and that the server runs.' },
  warehouse_not_found: { exitCode: 2, hint: 'Check path or database of the connection in ktx.yaml; relative paths start at its folder.' },
  warehouse_privilege: { hint: 'Let the user of the connection read it: GRANT SELECT on the table, USAGE on its schema.' },
  warehouse_locked: { retryable: true, hint: 'Close the process that writes to it, or point the connection to a copy.' },
  not_a_database: { exitCode: 2, hint: 'Point the path of the connection to a file that its driver reads.' },
  config_url: { exitCode: 2, hint: 'It looks like postgresql://user:password@host:5432/database.' },
  driver_not_installed: { exitCode: 2 },
  missing_object: { hint: '`ktx search` lists tables and columns.' },
  query_timeout: { retryable: true, hint: 'Narrow it (filter, fewer columns), or allow more time with --timeout.' },
  query_cancelled: { exitCode: 130, retryable: true },
  query_failed: { hint: 'Check the SQL; it must be in the dialect of the connection.' },
  gate_refused: { hint: 'Write one SELECT over the tables of this connection; `ktx search` lists them.' },
} as const satisfies Record<string, UserErrorOptions>;

export function failure(code: keyof typeof failures, message: string, options: UserErrorOptions = {}): UserError {
  return new UserError(code, message, { ...failures[code], ...options });
}

/** The gate's no. `rule` says which of its rules; `engine` where the database itself refused. */
export function refused(rule: 'statement' | 'node' | 'function' | 'table' | 'parse' | 'engine', reason: string, hint?: string): UserError {
  const options = hint === undefined ? {} : { hint };
  return failure('gate_refused', `Refused, ktx only reads: ${reason}`, { details: { rule }, ...options });
}

export function cancelled(): UserError {
  return failure('query_cancelled', 'The query was cancelled.');
}

export function timedOut(timeoutMs: number): UserError {
  return failure('query_timeout', `The query ran longer than ${timeoutMs / 1000} s and was cancelled.`);
}
