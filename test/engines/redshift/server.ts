import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { rewriteForPostgres } from './rewrite.ts';

export interface RedshiftFront {
  readonly port: number;
  /** The statements that clients sent, as they sent them. */
  readonly statements: readonly string[];
  close(): Promise<void>;
}

/** Sent before the login, in place of a version. */
const encryptionRequests = new Set([80877103, 80877104]);

/**
 * Redshift's protocol on a free port of loopback: that of Postgres, with a real Postgres behind it
 * that sees each statement rewritten. It offers no encryption.
 */
export async function startRedshiftFront(backend: {
  readonly host: string;
  readonly port: number;
}): Promise<RedshiftFront> {
  const statements: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const postgres = connect(backend.port, backend.host);
    for (const [socket, other] of [
      [client, postgres],
      [postgres, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.end();
      });
    }
    postgres.pipe(client);
    client.on('data', messageReader(client, postgres, statements));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    statements,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function messageReader(client: Socket, postgres: Socket, statements: string[]) {
  let held: Buffer = Buffer.alloc(0);
  let isStarted = false;
  const take = (): boolean => {
    const head = isStarted ? 1 : 0;
    if (held.length < head + 4) return false;
    const length = head + held.readInt32BE(head);
    if (held.length < length) return false;
    const message = held.subarray(0, length);
    held = held.subarray(length);
    if (isStarted) postgres.write(rewriteMessage(message, statements));
    else if (encryptionRequests.has(message.readInt32BE(4))) client.write('N');
    else {
      isStarted = true;
      postgres.write(message);
    }
    return true;
  };
  return (bytes: Buffer): void => {
    held = Buffer.concat([held, bytes]);
    while (take());
  };
}

/** Rewrites the statement in a Query and in a Parse message; others stay as they are. */
function rewriteMessage(message: Buffer, statements: string[]): Buffer {
  const kind = String.fromCharCode(message[0] ?? 0);
  if (kind !== 'Q' && kind !== 'P') return message;
  const body = message.subarray(5);
  const start = kind === 'P' ? body.indexOf(0) + 1 : 0;
  const end = body.indexOf(0, start);
  const sql = body.toString('utf8', start, end);
  statements.push(sql);
  const parts = [body.subarray(0, start), Buffer.from(rewriteForPostgres(sql)), body.subarray(end)];
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + parts.reduce((sum, part) => sum + part.length, 0));
  return Buffer.concat([message.subarray(0, 1), length, ...parts]);
}
