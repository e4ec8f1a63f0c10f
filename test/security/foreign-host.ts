import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A server on loopback that belongs to somebody else. It wants passwords. */
export interface ForeignHost {
  readonly port: number;
  /** What each connection sent, as Latin-1 text, in the order of the connections. */
  readonly received: readonly string[];
  /** Forgets what was received. */
  clear(): void;
  close(): Promise<void>;
}

const postgresSslRequest = '0000000804d2162f';
/** “Send me your password in clear text.” */
const clearTextPassword = Buffer.from('520000000800000003', 'hex');
const httpAnswer =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}';

/** Speaks enough of Postgres and HTTP that a client hands over its credentials. */
export async function openForeignHost(): Promise<ForeignHost> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const index = received.push('') - 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => {
      received[index] = `${received[index] ?? ''}${bytes.toString('latin1')}`;
      socket.write(answerTo(bytes));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    received,
    clear: () => void received.splice(0),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function answerTo(bytes: Buffer): Buffer | string {
  if (bytes.toString('hex') === postgresSslRequest) return 'N';
  if (/^[A-Z]+ \//.test(bytes.toString('latin1'))) return httpAnswer;
  return clearTextPassword;
}
