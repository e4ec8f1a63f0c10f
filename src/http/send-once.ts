import { request as sendPlain, type Agent, type IncomingMessage } from 'node:http';
import { request as sendTls } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** How the certificate of a server is checked, where Node's own way is not meant. */
export interface TlsSettings {
  /** Certificates of authorities, in place of those that Node knows. */
  readonly ca?: Buffer | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
}

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Instead of that of Node. */
  readonly lookup?: LookupFunction | undefined;
  /** The way through a proxy, which then looks the name up. */
  readonly agent?: Agent | undefined;
  readonly tls?: TlsSettings | undefined;
  /** Of the answer as the server meant it, not packed. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export class AnswerTooLarge extends Error {}

/**
 * Sends one request and reads the whole answer. Follows no redirect. Throws the error of the
 * socket, `AnswerTooLarge`, or the reason of the signal. Unpacks an answer that is gzipped, though
 * it asks for none unless the headers do.
 */
export async function sendOnce(options: RawRequest): Promise<RawAnswer> {
  const { url, body, method, lookup, agent, tls, signal, maxBytes } = options;
  const headers = { 'accept-encoding': 'identity', ...options.headers };
  const send = url.protocol === 'https:' ? sendTls : sendPlain;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(url, { ...tls, method, headers, lookup, agent, signal }, resolve);
    request.on('error', reject);
    // Node hears no signal while a proxy connects.
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    // Node tells nobody about an answer that switches to another protocol.
    request.on('close', () => reject(new Error('the connection ended without an answer')));
    request.end(body);
  });
  try {
    const text = await readText(unpacked(response), maxBytes);
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  } finally {
    response.destroy();
  }
}

/** An error of the connection becomes one of the stream. */
function unpacked(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  return pipeline(response, createGunzip(), () => undefined);
}

/** Bytes that are there for an answer before anything of it has come. */
const firstRoom = 65_536;

/** Keeps the bytes and not the pieces that they come in: a server can send them one by one. */
async function readText(stream: Readable, maxBytes: number): Promise<string> {
  let held = Buffer.allocUnsafe(firstRoom);
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const end = size + chunk.length;
    if (end > maxBytes) throw new AnswerTooLarge(`more than ${maxBytes} bytes`);
    if (end > held.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * held.length, end));
      held.copy(larger, 0, 0, size);
      held = larger;
    }
    chunk.copy(held, size);
    size = end;
  }
  return held.toString('utf8', 0, size);
}
