import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Milliseconds that a client may take to make room for the next part of an answer. */
const slowestRead = 30_000;

/**
 * The whole body of a request; undefined if it is longer than `most` bytes. The rest of it is not
 * kept.
 */
export async function readBody(
  request: IncomingMessage,
  most: number,
): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > most) return undefined;
  const pieces: Buffer[] = [];
  let length = 0;
  // The request stays open when the loop ends early, so that it can be answered.
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    pieces.push(piece as Buffer);
    length += (piece as Buffer).length;
    if (length > most) return undefined;
  }
  return Buffer.concat(pieces);
}

/** The request without its body, and without the token: nothing behind the login needs it. */
export function toWebRequest(
  { method = 'GET', headersDistinct }: IncomingMessage,
  signal: AbortSignal,
): Request {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct))
    if (name !== 'authorization') for (const value of values) headers.append(name, value);
  return new Request('http://localhost/mcp', { method, headers, signal });
}

/** Sends an answer piece by piece, as fast as the client reads; throws if it reads too slowly. */
export async function sendResponse(
  response: ServerResponse,
  answer: Response,
  signal: AbortSignal,
): Promise<void> {
  // The SDK's `connection` would keep a connection open that the client wants closed.
  const headers = [...answer.headers].filter(([name]) => name !== 'connection');
  response.writeHead(answer.status, headers.flat());
  // A stream may have nothing to say for a long time.
  response.flushHeaders();
  for await (const piece of answer.body ?? []) {
    if (response.write(piece)) continue;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(slowestRead)]);
    await once(response, 'drain', { signal: patience });
  }
  response.end();
}

/** Answers with a text of that type. */
export function sendText(
  response: ServerResponse,
  { status = 200, type, text }: { readonly status?: number; type: string; text: string },
): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(text);
}

/** Answers with JSON, and ends the connection if the request was not read to its end. */
export function sendJson(
  response: ServerResponse,
  status: number,
  { body, headers = {} }: { readonly body: object; readonly headers?: Record<string, string> },
): void {
  const isRead = response.req.complete;
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...(isRead ? {} : { connection: 'close' }),
    ...headers,
  });
  response.end(`${JSON.stringify(body)}\n`);
}
