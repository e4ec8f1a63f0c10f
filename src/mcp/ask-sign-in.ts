import { inputRequired, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { RanCall } from './answer-call.ts';
import { canAsk, type ReadChoices } from './ask-choice.ts';
import type { Caller } from './caller.ts';

/** What the client keeps while its user signs in. It is sealed, so it is as ktx wrote it. */
const stateSchema = z.object({ signIn: z.string() });

/** What ktx says of a statement that nobody could run yet. */
const neededSchema = z.object({ signIn: z.object({ id: z.string(), url: z.string() }) });

interface AskedSignIn {
  readonly caller: Pick<Caller, 'states' | 'signIns'>;
  readonly server: Pick<Server, 'getClientCapabilities'>;
  readonly context: ServerContext;
  readonly choices: ReadChoices;
}

/**
 * Runs a call. If its user has to sign in at the warehouse first, and the client can open an
 * address for them, the answer is that address, once. The repeated call waits for the browser.
 */
export async function askToSignIn(
  { caller, server, context, choices }: AskedSignIn,
  run: () => Promise<RanCall>,
): Promise<RanCall> {
  const { mcpReq } = context;
  const asked = stateSchema.safeParse(mcpReq.requestState()).data?.signIn;
  const accepted = z
    .object({ action: z.literal('accept') })
    .safeParse(mcpReq.inputResponses?.['sign_in']).success;
  if (asked !== undefined && accepted) await caller.signIns?.settled(asked, mcpReq.signal);
  const ran = await run();
  if (ran.error?.code !== 'warehouse_login_needed' || asked !== undefined) return ran;
  const { data } = neededSchema.safeParse(ran.error.details);
  if (data === undefined || !canAsk(server, context, 'url')) return ran;
  const { id, url } = data.signIn;
  const sign_in = inputRequired.elicitUrl({ message: ran.error.message, url });
  const requestState = await caller.states.mint({ chosen: choices.chosen, signIn: id });
  return { ...ran, result: inputRequired({ inputRequests: { sign_in }, requestState }) };
}
