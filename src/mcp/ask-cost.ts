import { inputRequired, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { formatByteSize } from '../lib/byte-size.ts';
import { sha256 } from '../lib/hash.ts';
import { canonicalJson } from '../lib/json.ts';
import type { RanCall } from './answer-call.ts';
import { canAsk, type ReadChoices } from './ask-choice.ts';
import type { Caller } from './caller.ts';

/** A call that is asked about: an answer allows this one, and no other. */
interface AskedStatement {
  readonly tool: string;
  readonly input: unknown;
}

/** What the client keeps while it asks. It is sealed, so it is as ktx wrote it. */
const stateSchema = z.object({ cost: z.object({ bytes: z.number(), call: z.string() }) });

/** What ktx says of a statement that was not run. */
const refusalSchema = z.object({ bytes: z.number().positive(), limit: z.number() });

interface ReadCost {
  /** What the user allows the call to read; undefined if nobody has asked them. */
  readonly allowedBytes: number | undefined;
  readonly mayAsk: boolean;
}

/** What the user of the client has answered in the round before this one. */
export function readAllowedCost({ mcpReq }: ServerContext, asked: AskedStatement): ReadCost {
  const state = stateSchema.safeParse(mcpReq.requestState());
  if (!state.success) return { allowedBytes: undefined, mayAsk: true };
  const { bytes, call } = state.data.cost;
  const answer = z
    .object({ action: z.literal('accept'), content: z.object({ run: z.literal(true) }) })
    .safeParse(mcpReq.inputResponses?.['cost']);
  const isAllowed = answer.success && call === hashCall(asked);
  return { allowedBytes: isAllowed ? bytes : undefined, mayAsk: false };
}

interface AskedCost {
  readonly caller: Pick<Caller, 'states' | 'project'>;
  readonly server: Pick<Server, 'getClientCapabilities'>;
  readonly context: ServerContext;
  readonly choices: ReadChoices;
  readonly cost: ReadCost;
  readonly asked: AskedStatement;
}

/**
 * Runs a call. If its statement would read more than a statement may, but not more than the project
 * lets a person allow, and the client can ask its user, the answer is the question, once.
 */
export async function askIfExpensive(
  { caller, server, context, choices, cost, asked }: AskedCost,
  run: () => Promise<RanCall>,
): Promise<RanCall> {
  const ran = await run();
  const most = caller.project.mostAllowedBytes;
  const { data } = refusalSchema.safeParse(ran.error?.details);
  const isAsked = ran.error?.code === 'too_expensive' && data !== undefined && most !== undefined;
  if (!isAsked || data.bytes > most || !cost.mayAsk || !canAsk(server, context)) return ran;
  const question = inputRequired.elicit({
    message: `This query would read ${formatByteSize(data.bytes)}; without asking, ${formatByteSize(data.limit)} is the most. Run it once?`,
    requestedSchema: {
      type: 'object',
      properties: { run: { type: 'boolean', title: 'Run it' } },
      required: ['run'],
    },
  });
  const kept = { bytes: data.bytes, call: hashCall(asked) };
  const requestState = await caller.states.mint({ chosen: choices.chosen, cost: kept });
  return { ...ran, result: inputRequired({ inputRequests: { cost: question }, requestState }) };
}

function hashCall({ tool, input }: AskedStatement): string {
  return sha256(canonicalJson([tool, input ?? null]));
}
