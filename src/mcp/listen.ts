import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UserError } from '../lib/error.ts';

/** For clients that are slow on purpose, or send more than a request of ktx has. Milliseconds. */
export const serverLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
};

/** Listens on an address and a port; 0 chooses a free one. */
export async function startListening(
  server: Server,
  address: string,
  port: number,
): Promise<AddressInfo> {
  server.listen({ host: address, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError('port_unusable', `ktx cannot listen on ${address}:${port} (${code}).`, {
      hint: 'Choose another port with --port, or 0 for any that is free.',
      exitCode: 2,
      cause: error,
    });
  }
  return server.address() as AddressInfo;
}
