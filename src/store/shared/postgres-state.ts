import { UserError } from '../../lib/error.ts';
import type { StateDatabase, StateRow } from './state-database.ts';

/** Milliseconds. */
const longestConnect = 5_000;
const longestStatement = 10_000;
const mostConnections = 8;

/**
 * SQLSTATE: `08` is the connection, `57P` a server that stops or starts, `53300` one that has too
 * many connections, `55000` a database that takes none, `57014` a statement that took too long.
 */
const lostConnection = /^(?:08|57P|53300|55000|57014)/;

/** Shared state in a Postgres database, for several servers. Connects at the first statement. */
export async function openPostgresState(url: string): Promise<StateDatabase> {
  const { Pool } = await import('pg');
  const pool = new Pool({
    connectionString: url,
    max: mostConnections,
    connectionTimeoutMillis: longestConnect,
    statement_timeout: longestStatement,
    query_timeout: longestStatement,
    application_name: 'ktx',
  });
  // Of a connection that nobody uses: the next statement opens another one.
  pool.on('error', () => undefined);
  return {
    async run(sql, values = []): Promise<readonly StateRow[]> {
      try {
        return (await pool.query<StateRow>(sql, [...values])).rows;
      } catch (error) {
        throw lostOr(url, error);
      }
    },
    isConflict: (error) => (error as { readonly code?: string }).code === '23505',
    close: () => pool.end(),
  };
}

/** An error that may pass, if the fault is the way to the server; otherwise the error itself. */
export function lostOr(url: string, error: unknown): unknown {
  return isLost(error) ? unreachable(url, error) : error;
}

/** True if the fault is the way to the server. Errors of sockets have codes such as ECONNRESET. */
function isLost(error: unknown): boolean {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (code === undefined) return /connection|timeout/i.test(message ?? '');
  return lostConnection.test(code) || /^E[A-Z]+$/.test(code);
}

function unreachable(url: string, cause: unknown): UserError {
  const { host } = new URL(url);
  const message = `The database of the shared state (${host}) gives no usable answer.`;
  return new UserError('state_unreachable', message, {
    hint: 'Check serve.state in ktx.yaml, and that this machine can reach the database.',
    retryable: true,
    cause,
  });
}
