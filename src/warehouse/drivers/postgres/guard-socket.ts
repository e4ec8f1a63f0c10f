import type { Socket } from 'node:net';

/** Bytes that a server may send in one transaction. Statements of people have a smaller limit of their own. */
const maxTransactionBytes = 256 * 2 ** 20;

export interface SocketGuard {
  /** Begins to count anew. */
  startTransaction(): void;
}

/**
 * Ends a connection whose server sends what the library cannot read, or without end. The library throws in
 * the handler of the socket, where nothing could catch it, and keeps every row and every half message.
 */
export function guardSocket(socket: Socket): SocketGuard {
  let bytes = 0;
  for (const listener of socket.listeners('data') as ((chunk: Buffer) => void)[]) {
    socket.off('data', listener);
    socket.on('data', (chunk: Buffer) => {
      // What was buffered before the end of the connection still arrives.
      if (socket.destroyed) return;
      bytes += chunk.length;
      try {
        if (bytes > maxTransactionBytes) throw new Error('it sent more than 256 MiB at once');
        listener.call(socket, chunk);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        socket.destroy(new Error(`the server does not keep to the protocol: ${reason}`));
      }
    });
  }
  return {
    startTransaction() {
      bytes = 0;
    },
  };
}
