import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseJson } from '../lib/json.ts';
import { readBody } from '../mcp/http/exchange.ts';
import { sendFailure } from './page-answer.ts';
import type { PageCommand, PageRoute } from './page-routes.ts';

/** Bytes of a request. */
const longestBody = 256 * 1024;

/** What a URL asks: a parameter that stands there several times is a list. */
function readQuery(query: URLSearchParams): object {
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

export interface RoutedRequest {
  readonly route: PageRoute;
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
}

interface RoutedCommand {
  readonly input: unknown;
  readonly command: PageCommand;
  readonly signal: AbortSignal;
}

/** The command that a request asks a route for; undefined if the request was refused. */
export async function readCommand(
  { route, request, query }: RoutedRequest,
  response: ServerResponse,
  ended: AbortSignal,
): Promise<RoutedCommand | undefined> {
  const input = route.method === 'GET' ? readQuery(query) : await readInput(request);
  const command = route.toCommand(input);
  if (command === undefined) {
    const message = 'The page sent what this server does not take. Load it again.';
    sendFailure(response, 400, { code: 'input_invalid', message });
    return undefined;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // A decision that was sent is made, whoever still waits for it.
  const signal = route.writes === true ? ended : AbortSignal.any([gone.signal, ended]);
  return { input, command, signal };
}
