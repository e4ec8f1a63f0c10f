import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

/** One request for vectors, as it came over the wire. */
export interface VectorsAsked {
  readonly texts: readonly string[];
  readonly model: string;
  readonly dimensions: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
}

/** A whole answer, or what stands in its place. */
export interface VectorsAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is; an object as JSON. */
  readonly body: unknown;
  /** Nothing follows, and the connection stays open. */
  readonly hangs?: boolean;
  /** The connection breaks after half of the body. */
  readonly cut?: boolean;
}

export type VectorsScript = (asked: VectorsAsked, n: number) => VectorsAnswer;

/** A scripted endpoint on loopback that speaks OpenAI's protocol for embeddings. */
export async function openEmbeddingEndpoint(script: VectorsScript = (asked) => vectors(asked)) {
  const requests: VectorsAsked[] = [];
  const state = { script };
  const waiting: { n: number; resolve: () => void }[] = [];
  let open = 0;
  const counts = { mostAtOnce: 0, abandoned: 0 };
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const { input, model, dimensions } = body as {
        input: readonly string[];
        model: string;
        dimensions?: number;
      };
      const { url: path = '', headers } = request;
      const asked = { texts: input, model, dimensions, headers, path };
      requests.push(asked);
      open += 1;
      counts.mostAtOnce = Math.max(counts.mostAtOnce, open);
      response.on('close', () => {
        open -= 1;
        if (!response.writableFinished) counts.abandoned += 1;
      });
      for (const { n, resolve } of waiting) if (requests.length >= n) resolve();
      // Later, so that requests that are sent at once meet here.
      setImmediate(() => send(response, state.script(asked, requests.length)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    requests,
    counts,
    /** Answers the requests from now on. */
    play: (next: VectorsScript) => void (state.script = next),
    arrived: (n: number): Promise<void> =>
      requests.length >= n
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.push({ n, resolve })),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function send(
  response: ServerResponse,
  { status = 200, headers, body, hangs, cut }: VectorsAnswer,
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.write(cut === true ? text.slice(0, text.length / 2) : text);
  if (cut === true) setImmediate(() => response.destroy());
  else if (hangs !== true) response.end();
}

/** The vector of a text depends on its words alone: texts that share words are near each other. */
export function vectorOf(text: string, dimensions = 64): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const at = createHash('sha256').update(word).digest().readUInt32BE(0) % dimensions;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  if (!vector.some((count) => count > 0)) vector[0] = 1;
  return vector;
}

interface AnswerOptions {
  /** Tokens of the whole answer; null reports none. */
  readonly tokens?: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly vectorOf?: (text: string, dimensions?: number) => readonly unknown[];
}

export function vectors(
  { texts, model, dimensions }: VectorsAsked,
  { tokens = texts.length, headers, vectorOf: embed = vectorOf }: AnswerOptions = {},
): VectorsAnswer {
  const data = texts.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: embed(text, dimensions),
  }));
  const usage = tokens === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
  return { headers, body: { object: 'list', model, data, ...usage } };
}

/** A failure in OpenAI's words. */
export function refuse(
  status: number,
  {
    code,
    message = 'refused',
    headers,
  }: { code?: string; message?: string; headers?: Record<string, string> } = {},
): VectorsAnswer {
  return { status, headers, body: { error: { message, type: 'invalid_request_error', code } } };
}
