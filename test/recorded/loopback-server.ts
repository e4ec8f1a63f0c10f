import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server does with the next requests whose path and query match. */
export interface Fault {
  readonly match: RegExp;
  times: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the answer. */
  readonly body?: string;
  /** Ends the connection in the middle of the answer. */
  readonly isCut?: boolean;
}

export interface WireAnswer {
  readonly status: number;
  readonly json: unknown;
}

export interface WireRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  /** The parsed body; undefined without one. */
  readonly json: unknown;
  /** The fields of a form; undefined for any other body. */
  readonly form: URLSearchParams | undefined;
}

/** The far end of a network, on loopback: one handler, every request recorded, faults on demand. */
export async function startLoopbackServer(answerTo: (request: WireRequest) => WireAnswer) {
  const faults: Fault[] = [];
  const requests: string[] = [];
  const held: { readonly match: RegExp; readonly released: Promise<void> }[] = [];
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    requests.push(`${method} ${url}`);
    for (const { match, released } of held) if (match.test(url)) await released;
    const fault = faults.find(({ match, times }) => times > 0 && match.test(url));
    if (fault !== undefined) {
      fault.times -= 1;
      return fail(fault, response);
    }
    const text = Buffer.concat(chunks).toString('utf8');
    const { status, json } = answerTo({
      method,
      url: new URL(url, 'http://loopback'),
      headers,
      ...(headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true
        ? { json: undefined, form: new URLSearchParams(text) }
        : { json: text === '' ? undefined : (JSON.parse(text) as unknown), form: undefined }),
    });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(json));
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    requests,
    /** Answers no matching request until the function that it returns is called. */
    hold: (match: RegExp): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.push({ match, released: promise });
      return resolve;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function fail({ status = 200, headers = {}, body = '{}', isCut }: Fault, response: ServerResponse) {
  if (isCut === true) {
    response.writeHead(status, { 'content-length': '1000' });
    response.write(body, () => response.destroy());
    return;
  }
  response.writeHead(status, headers);
  response.end(body);
}
