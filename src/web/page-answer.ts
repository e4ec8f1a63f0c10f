import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { parseJson } from '../lib/json.ts';
import { sendJson } from '../mcp/http/exchange.ts';
import type { PageRoute } from './page-routes.ts';

/** In the shape that a failed command has. */
export function sendFailure(
  response: ServerResponse,
  status: number,
  error: { readonly code: string; readonly message: string },
): void {
  sendJson(response, status, { body: { ok: false, error } });
}

/** True if the command refused because the question has changed since the page showed it. */
function isConflict(envelope: string): boolean {
  const { data } = refusedSchema.safeParse(parseJson(envelope));
  return data?.error.code === 'question_changed';
}

const refusedSchema = z.object({ error: z.object({ code: z.string() }) });

/** Sends what a command prints. */
export function sendEnvelope(
  response: ServerResponse,
  { writes }: Pick<PageRoute, 'writes'>,
  envelope: string,
): void {
  const status = writes === true && isConflict(envelope) ? 409 : 200;
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(envelope);
}
