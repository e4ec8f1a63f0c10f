import type { Connection, Pool, PoolConnection } from 'mysql2';
import { errorMessage } from '../../../../lib/error.ts';
import { limitServerBytes } from '../../../result-size.ts';
import { socketOf } from '../limited-query.ts';

/** The parts of the library's connection that read what the server sends, after TLS if any. */
interface ReadingConnection {
  packetParser: { execute(chunk: Buffer): void };
  /** Without a packet, it starts the next command. */
  handlePacket(packet?: unknown): void;
  readonly _handleFatalError: (error: Error) => void;
  readonly _command?: { readonly _resultIndex?: number; readonly _fieldCount?: number } | null;
}

/** The connections of the library's pool, also those whose login has just begun. */
interface GrowingPool {
  readonly _allConnections: {
    readonly length: number;
    get(index: number): PoolConnection | undefined;
  };
}

const limits = new WeakMap<Connection, ReturnType<typeof limitServerBytes>>();
/** A row of a few bytes takes more than that in memory. */
const bytesPerPacket = 100;
/** The most that MySQL has. */
const mostColumns = 4096;

/** Guards each connection of the pool from its first byte. */
export function guardPool(pool: Pool): Pool {
  const connect = pool.getConnection.bind(pool);
  const { _allConnections: connections } = pool as unknown as GrowingPool;
  pool.getConnection = (callback) => {
    connect(callback);
    for (let index = 0; index < connections.length; index += 1) {
      const connection = connections.get(index);
      if (connection !== undefined) guardConnection(connection);
    }
  };
  return pool;
}

/** Begins to count anew what the server sends. */
export function startTransaction(connection: Connection): void {
  limits.get(connection)?.startTransaction();
}

/**
 * Ends a connection whose server sends without end, or what the library cannot read. The library
 * keeps every row and every half packet, and goes on after packets that are out of order.
 */
export function guardConnection<Guarded extends Connection>(connection: Guarded): Guarded {
  if (limits.has(connection)) return connection;
  const limit = limitServerBytes();
  limits.set(connection, limit);
  const reading = connection as unknown as ReadingConnection;
  const { packetParser: parser, _handleFatalError: fail } = reading;
  const handle = reading.handlePacket.bind(connection);
  const failAsFault = (error: Error): void => fail.call(connection, serverFault(error));
  Object.assign(connection, { _handleFatalError: failAsFault });
  reading.handlePacket = (packet) => {
    if (packet !== undefined) limit.count(bytesPerPacket);
    handle(packet);
    const { _command: command } = reading;
    const { _resultIndex: results = 0, _fieldCount: columns = 0 } = command ?? {};
    if (results > 0 || columns > mostColumns) throw new Error('it answers what nobody asked');
  };
  // Throws out of the library, before it prints a line for each such packet.
  connection.on('warn', (error) => {
    throw error;
  });
  reading.packetParser = {
    execute(chunk) {
      const socket = socketOf(connection);
      // What was buffered before the end of the connection still arrives.
      if (socket.destroyed) return;
      try {
        limit.count(chunk.length);
        parser.execute(chunk);
      } catch (error) {
        socket.destroy(protocolError(errorMessage(error)));
      }
    },
  };
  return connection;
}

/** The library throws these when it reads what is not there. */
function serverFault(error: Error): Error {
  const isFault = error instanceof TypeError || error instanceof RangeError;
  return isFault ? protocolError(error.message) : error;
}

export function protocolError(reason: string): Error {
  const message = `the server does not keep to the protocol: ${reason}`;
  return Object.assign(new Error(message), { code: 'PROTOCOL_ERROR', fatal: true });
}
