import { messageOf, UserError } from '../../../lib/error.ts';
import { failure, refused } from '../../failure.ts';

/** A failure of the server, or of the way to it, by its SQLSTATE. `where` is host, port and database, never a secret. */
export function serverFailure(error: unknown, where: string): unknown {
  if (error instanceof UserError) return error;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  const message = messageOf(error);
  if (/password must be a string|no password supplied/.test(message))
    return failure('warehouse_auth', `${where} asks for a password, and none is configured.`);
  if (code.startsWith('28') || message.includes('SASL')) return failure('warehouse_auth', `${where} refused the login: ${message}`);
  if (code === '3D000') return failure('warehouse_not_found', `${where}: ${message}`);
  if (code === '42501') return failure('warehouse_privilege', `The login lacks a privilege: ${message}`);
  if (['42P01', '42703', '42883', '3F000'].includes(code)) return failure('missing_object', `Postgres: ${message}`);
  if (code === '57014') return failure('query_timeout', 'The query ran longer than its time limit and was cancelled by the server.');
  if (code === '25006') return refused('engine', message);
  if (/^(E[A-Z_]+|08...|57P0[1-3]|53300|)$/.test(code))
    return failure('warehouse_unreachable', `${where} cannot be reached: ${message || code}`);
  return failure('query_failed', `Postgres could not run the query: ${message}`, { details: { sqlstate: code } });
}
