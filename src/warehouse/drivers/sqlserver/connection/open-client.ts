import { connect as connectSocket, type Socket } from 'node:net';
import type { Connection, ConnectionConfiguration } from 'tedious';
import { limitServerBytes } from '../../../result-size.ts';
import type { SqlServerSettings } from '../settings.ts';
import { numberedError } from './send-request.ts';

export interface OpenClient {
  readonly connection: Connection;
  /** Closes the connection when its server sends more than it may; returns what ends the watch. */
  readonly limitBytes: () => () => void;
}

/** In milliseconds. */
const [loginTime, cancelTime, checkEvery] = [10_000, 2000, 100];

/** Logs in; given up, it leaves nothing behind. Throws the server's error with its number. */
export async function openClient(
  settings: SqlServerSettings,
  { Connection: ConnectionClass }: typeof import('tedious'),
  signal: AbortSignal,
): Promise<OpenClient> {
  const socket = connectSocket({ host: settings.host, port: settings.port });
  const connector = (): Promise<Socket> => {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    socket.once('connect', () => resolve(socket)).once('error', reject);
    return promise;
  };
  const connection = new ConnectionClass(clientOptions(settings, connector));
  const { promise, resolve, reject } = Promise.withResolvers<OpenClient>();
  const giveUp = (): void => {
    connection.close();
    socket.destroy();
    reject(signal.reason as Error);
  };
  signal.addEventListener('abort', giveUp, { once: true });
  connection.on('error', () => undefined);
  connection.connect((error) => {
    signal.removeEventListener('abort', giveUp);
    if (error) reject(numberedError(error));
    else resolve({ connection, limitBytes: () => watchBytes(connection, socket) });
  });
  return promise;
}

function clientOptions(
  { host, database, login, isEncrypted, isVerified, ca }: SqlServerSettings,
  connector: () => Promise<Socket>,
): ConnectionConfiguration {
  return {
    server: host,
    authentication:
      'token' in login
        ? { type: 'azure-active-directory-access-token', options: { token: login.token } }
        : { type: 'default', options: { userName: login.user, password: login.password } },
    options: {
      connector,
      database,
      appName: 'ktx',
      encrypt: isEncrypted,
      trustServerCertificate: !isVerified,
      ...(ca !== undefined && { cryptoCredentialsDetails: { ca } }),
      // A listener of an availability group leads to a replica that can only read.
      readOnlyIntent: true,
      connectTimeout: loginTime,
      cancelTimeout: cancelTime,
      requestTimeout: 0,
      maxRetriesOnTransientErrors: 0,
      useUTC: true,
      textsize: 2 ** 31 - 1,
    },
  };
}

function watchBytes(connection: Connection, socket: Socket): () => void {
  const limit = limitServerBytes();
  limit.startTransaction();
  let counted = socket.bytesRead;
  const timer = setInterval(() => {
    const { bytesRead } = socket;
    try {
      limit.count(bytesRead - counted);
    } catch {
      connection.close();
    }
    counted = bytesRead;
  }, checkEvery);
  return () => clearInterval(timer);
}
