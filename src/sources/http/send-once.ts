import { request as sendPlain, type Agent, type IncomingMessage } from 'node:http';
import { request as sendTls } from 'node:https';
import type { LookupFunction } from 'node:net';

export interface RawRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Instead of that of Node. */
  readonly lookup?: LookupFunction | undefined;
  /** The way through a proxy, which then looks the name up. */
  readonly agent?: Agent | undefined;
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
 * socket, `AnswerTooLarge`, or the reason of the signal.
 */
export async function sendOnce(options: RawRequest): Promise<RawAnswer> {
  const { url, body, method, lookup, agent, signal, maxBytes } = options;
  const headers = { ...options.headers, 'accept-encoding': 'identity' };
  const send = url.protocol === 'https:' ? sendTls : sendPlain;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(url, { method, headers, lookup, agent, signal }, resolve);
    request.on('error', reject);
    // Node hears no signal while a proxy connects.
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    // Node tells nobody about an answer that switches to another protocol.
    request.on('close', () => reject(new Error('the connection ended without an answer')));
    request.end(body);
  });
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new AnswerTooLarge(`more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    const { statusCode: status = 0 } = response;
    return { status, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') };
  } finally {
    response.destroy();
  }
}
