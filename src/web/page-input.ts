import type { IncomingMessage } from 'node:http';
import { parseJson } from '../lib/json.ts';
import { readBody } from '../mcp/http/exchange.ts';

/** Bytes of a request. */
const longestBody = 256 * 1024;

/** What a URL asks: a parameter that stands there several times is a list. */
export function readQuery(query: URLSearchParams): object {
  return Object.fromEntries(
    [...new Set(query.keys())].map((key) => {
      const values = query.getAll(key);
      return [key, values.length === 1 ? values[0] : values];
    }),
  );
}

/** Only JSON, which a form of another site cannot send. */
export async function readInput(request: IncomingMessage): Promise<unknown> {
  if (request.headers['content-type'] !== 'application/json') return undefined;
  const bytes = await readBody(request, longestBody);
  return bytes && parseJson(bytes.toString());
}
