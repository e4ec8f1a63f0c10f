import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { Client } from 'pg';
import { errorMessage, message, readMessages, startupParameters } from './messages.ts';

interface Certificate {
  readonly key: string;
  readonly certificate: string;
}

export interface PoolerOptions {
  /** The login on the server behind. */
  readonly backendUrl: string;
  /** How many connections to the server it keeps. */
  readonly size: number;
  /** Encrypts; undefined: it offers no encryption. */
  readonly certificate?: Certificate;
  /** What it says of the server at the login. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Says why a login is refused; undefined if it is not. */
  readonly refuse?: (
    login: Login,
  ) => { readonly code: string; readonly message: string } | undefined;
}

/** What a client said at its login. */
interface Login {
  readonly parameters: ReadonlyMap<string, string>;
  /** The host name of the TLS handshake. */
  readonly serverName: string | undefined;
}

export interface Pooler {
  readonly port: number;
  readonly logins: readonly Login[];
  /** How many cancels it handed on. */
  readonly cancels: () => number;
  /** Asks each connection to the server one statement; the first cells. */
  askEach(sql: string): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

interface Backend {
  readonly client: Client;
  readonly socket: Socket;
  readonly key: Buffer;
}

const encryptionRequest = 80877103;
const cancelRequest = 80877102;

/**
 * A pooler in transaction mode before a real Postgres: a connection to the server belongs to a
 * client only from the first message of a transaction to its end. It says a process and a key of
 * its own at the login.
 */
export async function startPooler(options: PoolerOptions): Promise<Pooler> {
  const backends = await Promise.all(
    Array.from({ length: options.size }, () => openBackend(options.backendUrl)),
  );
  const idle = [...backends];
  const waiting: ((backend: Backend) => void)[] = [];
  const held = new Map<string, Backend>();
  const logins: Login[] = [];
  const sockets = new Set<Socket>();
  let clients = 0;
  let cancels = 0;

  const take = async (): Promise<Backend> =>
    idle.shift() ?? (await new Promise((resolve) => waiting.push(resolve)));
  const give = (backend: Backend): void => {
    const next = waiting.shift();
    // The connection that was idle longest comes next: no two transactions in a row share one.
    if (next === undefined) idle.push(backend);
    else next(backend);
  };

  const cancel = (key: Buffer): void => {
    const backend = held.get(key.toString('hex'));
    if (backend === undefined) return;
    cancels += 1;
    const { hostname, port } = new URL(options.backendUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.end(Buffer.concat([int32(16), int32(cancelRequest), backend.key]));
  };

  const serve = (socket: Socket, serverName?: string): void => {
    sockets.add(socket);
    clients += 1;
    const key = Buffer.concat([int32(100_000 + clients), int32(7 * clients)]);
    let isStarted = false;
    let backend: Backend | undefined;
    let queued: Buffer[] = [];
    let isTaking = false;
    const release = (): void => {
      if (backend === undefined) return;
      backend.socket.removeAllListeners('data');
      held.delete(key.toString('hex'));
      give(backend);
      backend = undefined;
    };
    const hand = async (): Promise<void> => {
      if (isTaking) return;
      isTaking = true;
      const taken = await take();
      isTaking = false;
      backend = taken;
      held.set(key.toString('hex'), taken);
      const fromServer = readMessages(true, (bytes) => {
        socket.write(bytes);
        if (bytes[0] === 0x5a && bytes[5] === 0x49) release();
      });
      taken.socket.on('data', fromServer);
      for (const bytes of queued) taken.socket.write(bytes);
      queued = [];
    };
    const onStartup = (bytes: Buffer): 'keep' | 'stop' => {
      const code = bytes.readInt32BE(4);
      if (code === cancelRequest) {
        cancel(bytes.subarray(8, 16));
        socket.end();
        return 'stop';
      }
      if (code === encryptionRequest) {
        socket.write(options.certificate === undefined ? 'N' : 'S');
        if (options.certificate === undefined) return 'keep';
        encrypt(socket, options.certificate, serve);
        return 'stop';
      }
      const login = { parameters: startupParameters(bytes), serverName };
      logins.push(login);
      const refusal = options.refuse?.(login);
      if (refusal !== undefined) {
        socket.end(errorMessage(refusal.code, refusal.message));
        return 'stop';
      }
      isStarted = true;
      const settings = Object.entries(options.settings ?? {}).map(([name, value]) =>
        message('S', Buffer.from(`${name}\0${value}\0`)),
      );
      const ready = [...settings, message('K', key), message('Z', Buffer.from('I'))];
      socket.write(Buffer.concat([message('R', int32(0)), ...ready]));
      return 'keep';
    };
    const reader = readMessages(
      () => isStarted,
      (bytes) => {
        if (!isStarted) {
          if (onStartup(bytes) === 'stop') socket.off('data', reader);
          return;
        }
        // Goodbye: the connection to the server stays.
        if (bytes[0] === 0x58) socket.end();
        else if (backend !== undefined) backend.socket.write(bytes);
        else {
          queued.push(bytes);
          void hand();
        }
      },
    );
    socket.on('data', reader);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };

  const server = createServer((socket) => serve(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    logins,
    cancels: () => cancels,
    askEach: (sql) =>
      Promise.all(
        backends.map(async ({ socket }) => {
          socket.removeAllListeners('data');
          return ask(socket, sql);
        }),
      ),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      for (const { socket } of backends) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Logs in by the library, and then takes its socket over. */
async function openBackend(url: string): Promise<Backend> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const { connection, processID, secretKey } = client as unknown as {
    readonly connection: { readonly stream: Socket };
    readonly processID: number;
    readonly secretKey: number;
  };
  const { stream: socket } = connection;
  socket.removeAllListeners('data');
  return { client, socket, key: Buffer.concat([int32(processID), int32(secretKey)]) };
}

function encrypt(
  socket: Socket,
  { key, certificate: cert }: Certificate,
  serve: (socket: Socket, serverName?: string) => void,
): void {
  let serverName: string | undefined;
  const secure = new TLSSocket(socket, {
    isServer: true,
    secureContext: createSecureContext({ key, cert }),
    SNICallback: (name, done) => {
      serverName = name;
      done(null, createSecureContext({ key, cert }));
    },
  });
  secure.on('error', () => secure.destroy());
  secure.once('secure', () => serve(secure, serverName));
}

/** The first cell of a statement's answer. */
function ask(socket: Socket, sql: string): Promise<string> {
  return new Promise((resolve) => {
    let cell = '';
    const reader = readMessages(true, (bytes) => {
      if (bytes[0] === 0x44) cell = bytes.toString('utf8', 11, 11 + bytes.readInt32BE(7));
      if (bytes[0] !== 0x5a) return;
      socket.off('data', reader);
      resolve(cell);
    });
    socket.on('data', reader);
    socket.write(message('Q', Buffer.from(`${sql}\0`)));
  });
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
