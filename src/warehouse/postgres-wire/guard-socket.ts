import type { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { limitServerBytes } from '../result-size.ts';

export interface SocketGuard {
  /** Begins to count anew. */
  startTransaction(): void;
}

/**
 * The part of the library's connection that hands a socket to its parser, after TLS if there is
 * any.
 */
interface ParsingConnection {
  attachListeners(socket: Socket): void;
  once(event: 'error', listener: () => void): void;
  on(event: 'parameterStatus', listener: (status: ParameterStatus) => void): void;
}

/** What a server says of itself while somebody logs in. */
interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/**
 * A client that is guarded from the first byte: a server can break the protocol during the login
 * too.
 */
export class GuardedClient extends Client {
  guard: SocketGuard | undefined;
  /** Settings of the server, such as `server_version`. */
  readonly serverSettings = new Map<string, string>();

  constructor(settings?: ClientConfig) {
    super(settings);
    const { connection } = this as unknown as { connection: ParsingConnection };
    connection.on('parameterStatus', ({ parameterName, parameterValue }) =>
      this.serverSettings.set(parameterName, parameterValue),
    );
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (socket) => {
      attach(socket);
      // Where its own half of a login fails, the library leaves the socket to the server, which
      // waits a minute, and so does the process.
      connection.once('error', () => socket.destroy());
      this.guard = guardSocket(socket);
    };
  }
}

/**
 * Ends a connection whose server sends what the library cannot read, or without end. The library
 * throws in the handler of the socket, where nothing could catch it, and keeps every row and every
 * half message.
 */
function guardSocket(socket: Socket): SocketGuard {
  const limit = limitServerBytes();
  const checkMessages = messageCheck(() => limit.count(bytesPerMessage));
  for (const listener of socket.listeners('data') as ((chunk: Buffer) => void)[]) {
    socket.off('data', listener);
    socket.on('data', (chunk: Buffer) => {
      // What was buffered before the end of the connection still arrives.
      if (socket.destroyed) return;
      try {
        limit.count(chunk.length);
        checkMessages(chunk);
        listener.call(socket, chunk);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        socket.destroy(new Error(`the server does not keep to the protocol: ${reason}`));
      }
    });
  }
  return limit;
}

/** A row of a few bytes takes more than that in memory. */
const bytesPerMessage = 100;
const headLength = 5;
const [errorCode, noticeCode] = Buffer.from('EN');

/**
 * Checks messages before the library reads them. It looks for the end of an error or a notice, two
 * zero bytes, also after the last byte that it has, and then for ever.
 */
function messageCheck(onMessage: () => void): (chunk: Buffer) => void {
  const head = Buffer.alloc(headLength);
  let headBytes = 0;
  let bodyBytes = 0;
  /** The last two bytes of the body so far. */
  let ending = '';
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (headBytes < headLength) {
        head[headBytes++] = chunk[at++] ?? 0;
        if (headBytes < headLength) continue;
        bodyBytes = head.readUInt32BE(1) - 4;
        ending = '\0';
        onMessage();
        if (bodyBytes < 0) throw new Error('a message has a negative length');
      }
      const end = Math.min(chunk.length, at + bodyBytes);
      ending = (ending + chunk.toString('latin1', Math.max(at, end - 2), end)).slice(-2);
      bodyBytes -= end - at;
      at = end;
      if (bodyBytes > 0) continue;
      headBytes = 0;
      const isText = head[0] === errorCode || head[0] === noticeCode;
      if (isText && ending !== '\0\0') throw new Error('an error or a notice has no end');
    }
  };
}
