import type { ClientConfig, PoolClient } from 'pg';
import { GuardedClient } from './guard-socket.ts';
import { socketOf } from './limited-query.ts';

/** What a client learned at its login. */
interface BackendKey {
  readonly processID: number;
  readonly secretKey: number;
}

const limits = { connectionTimeoutMillis: 3000, query_timeout: 3000 };

/**
 * Asks the server to stop the statement. If the server does not answer, the connection is cut.
 * `isPooled`: the process that the client knows is not that of the server.
 */
export async function cancelStatement(
  client: PoolClient,
  settings: ClientConfig,
  isPooled: boolean,
): Promise<void> {
  const canceller = new GuardedClient({ ...settings, ...limits });
  // After the login, a broken connection is an event that would end this process.
  canceller.on('error', () => undefined);
  const cancel = isPooled ? requestCancel : cancelBackend;
  await cancel(canceller, client as unknown as BackendKey).catch(() => socketOf(client).destroy());
  await canceller.end().catch(() => undefined);
}

/** Waits for the server's word that the signal was sent. */
async function cancelBackend(canceller: GuardedClient, { processID }: BackendKey): Promise<void> {
  await canceller.connect();
  await canceller.query('SELECT pg_cancel_backend($1)', [processID]);
}

interface CancellingConnection {
  startup(): void;
  cancel(processID: number, secretKey: number): void;
}

/**
 * The protocol's own request, in place of a login: a pooler hands it on to the right process. Who
 * gets it closes the connection.
 */
async function requestCancel(
  canceller: GuardedClient,
  { processID, secretKey }: BackendKey,
): Promise<void> {
  const { connection } = canceller as unknown as { connection: CancellingConnection };
  let isSent = false;
  connection.startup = () => {
    isSent = true;
    connection.cancel(processID, secretKey);
  };
  await canceller.connect().catch((error: unknown) => {
    if (!isSent) throw error;
  });
}
