import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { parseJson } from '../../lib/json.ts';
import { readVersion } from '../../lib/version.ts';
import type { Caller } from '../../mcp/caller.ts';
import type { Project } from '../../project/open/open.ts';
import type { PageCommand } from '../page-routes.ts';
import type { TeamRoute } from './team-routes.ts';

/** Runs one command line as `--json` does, on the project as a caller sees it. */
export type RunForCaller = (
  command: PageCommand,
  options: { readonly project: Project; readonly signal: AbortSignal },
) => Promise<string>;

interface CallOfPage {
  /** `review/choose` */
  readonly name: string;
  readonly effect: TeamRoute['effect'];
  readonly input: unknown;
  readonly command: PageCommand;
  readonly run: RunForCaller;
  readonly signal: AbortSignal;
}

/**
 * What a command prints for a caller, within their scopes and limits, and on record before it is
 * returned, as calls of MCP are. Throws a `UserError` if the caller may not call it, or if the
 * record cannot be written.
 */
export async function answerCaller(caller: Caller, call: CallOfPage): Promise<string> {
  const { name, effect, input, command, run, signal } = call;
  const tool = `page ${name}`;
  const client = { name: 'ktx page', version: readVersion() };
  const record = caller.record({ tool, input, client, traceparent: undefined });
  // What only reads the context has no effect that a line would have to precede.
  if (effect !== 'context') await record.started();
  const admission = await caller.admit({ name: tool, effect });
  if (admission.kind === 'refused') {
    await record.answered({ bytes: 0, outcome: admission.error.code });
    throw admission.error;
  }
  let bytes = 0;
  try {
    const { project } = caller;
    const envelope = await caller.calls.add(() => run(command, { project, signal }));
    bytes = Buffer.byteLength(envelope);
    await record.answered({ ...describeAnswer(envelope), bytes });
    return envelope;
  } finally {
    await admission.release(bytes);
  }
}

const answerSchema = z.object({
  ok: z.boolean(),
  error: z.object({ code: z.string() }).optional(),
  data: z
    .object({
      connection: z.string().optional().catch(undefined),
      sql: z.string().optional().catch(undefined),
      query_id: z.string().optional().catch(undefined),
      rows: z.array(z.unknown()).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

/** What the record of a call has of its answer. */
function describeAnswer(envelope: string) {
  const { data, error, ok = false } = answerSchema.safeParse(parseJson(envelope)).data ?? {};
  return {
    connection: data?.connection,
    sql: data?.sql,
    query: data?.query_id,
    rows: data?.rows?.length,
    outcome: ok ? 'ok' : (error?.code ?? 'failed'),
  };
}

/** The status of a refusal, for programs between the server and the page. */
export function statusOf({ code }: UserError): number {
  if (code === 'scope_missing') return 403;
  return ['rate_limited', 'too_many_queries', 'day_used_up'].includes(code) ? 429 : 503;
}
