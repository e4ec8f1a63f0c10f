import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { UserError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import type { SentValues } from '../llm/egress/sent-values.ts';
import type { Tool } from '../tools/tool.ts';
import type { AnsweredCall, AskedCall } from './audit/record-calls.ts';
import type { Caller } from './caller.ts';

/** What a client asked for, as its record has it. */
export function describeAsked(
  server: Pick<Server, 'getClientVersion'>,
  { mcpReq: { _meta: meta } }: ServerContext,
  { tool, input }: Pick<AskedCall, 'tool' | 'input'>,
): AskedCall {
  return { tool, input, client: server.getClientVersion(), traceparent: meta?.['traceparent'] };
}

/** What a call of a tool gave, for its client and for its record. */
export interface RanCall {
  readonly result: CallToolResult | InputRequiredResult;
  readonly answered: AnsweredCall;
  /** Why the tool failed. */
  readonly error?: UserError | undefined;
}

interface CallToAnswer {
  readonly tool: Pick<Tool, 'name' | 'effect'>;
  readonly asked: AskedCall;
  /** Called if the caller may call the tool now. */
  readonly run: () => Promise<RanCall>;
}

/** Runs what a client calls. The answer is on record before it is returned. */
export async function answerCall(
  caller: Caller,
  { tool, asked, run }: CallToAnswer,
): Promise<RanCall['result']> {
  const record = caller.record(asked);
  // What only reads the context has no effect that a line would have to precede.
  const unstarted = tool.effect === 'context' ? undefined : await failureOf(record.started());
  if (unstarted !== undefined) return refuseCall(unstarted);
  const { result, answered } = await runAdmitted(caller, tool, run);
  const unrecorded = await failureOf(record.answered(answered));
  return unrecorded === undefined ? result : refuseCall(unrecorded);
}

/** Gives what a method of the protocol reads, once it is on record. */
export async function answerRead<T extends object>(
  caller: Pick<Caller, 'record'>,
  asked: AskedCall,
  read: () => T | Promise<T>,
): Promise<T> {
  const record = caller.record(asked);
  const answer = await Promise.resolve()
    .then(read)
    .catch(async (error: unknown) => {
      await recordRead({ bytes: 0, outcome: codeOf(error) });
      throw error;
    });
  await recordRead({ bytes: Buffer.byteLength(JSON.stringify(answer)), outcome: 'ok' });
  return answer;

  async function recordRead(answered: AnsweredCall): Promise<void> {
    const unrecorded = await failureOf(record.answered(answered));
    if (unrecorded !== undefined)
      throw new ProtocolError(ProtocolErrorCode.InternalError, unrecorded.message);
  }
}

async function runAdmitted(
  caller: Caller,
  tool: CallToAnswer['tool'],
  run: CallToAnswer['run'],
): Promise<RanCall> {
  const admission = await caller.admit(tool);
  if (admission.kind === 'refused') {
    const { code } = admission.error;
    return { result: refuseCall(admission.error), answered: { bytes: 0, outcome: code } };
  }
  let bytes = 0;
  try {
    const ran = await run();
    bytes = ran.answered.bytes;
    return ran;
  } finally {
    await admission.release(bytes);
  }
}

/** Runs a tool of ktx. */
export async function runTool(
  caller: Caller,
  tool: Tool,
  { input, client }: AskedCall,
): Promise<RanCall> {
  const { markdown, structured, error, values, answer } = await tool.execute(input);
  await recordValues(caller, { tool: tool.name, client: client?.name ?? 'a client', values });
  const result: CallToolResult = {
    content: [{ type: 'text', text: markdown }],
    ...(structured === undefined ? {} : { structuredContent: structured }),
    isError: error !== undefined,
  };
  const answered = {
    connection: answer?.ran?.connection,
    sql: answer?.ran?.sql,
    query: answer?.queryId,
    rows: answer?.items.length,
    bytes: Buffer.byteLength(markdown),
    outcome: error?.code ?? 'ok',
  };
  return { result, answered, error };
}

/** In words that a model can act on, because no error of the protocol reaches it. */
function refuseCall({ code, message, hint }: UserError): CallToolResult {
  const text = [`Error ${code}`, message, ...(hint === undefined ? [] : [`Hint: ${hint}`])];
  return { content: [{ type: 'text', text: text.join('\n') }], isError: true };
}

async function failureOf(recording: Promise<void>): Promise<UserError | undefined> {
  try {
    await recording;
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof ProtocolError ? String(error.code) : 'internal';
}

interface SentAnswer {
  readonly tool: string;
  /** The name that the client gives itself. */
  readonly client: string;
  readonly values: readonly SentValues[];
}

/** Records the values of an answer before the client gets them: its model is not one of ktx. */
async function recordValues(caller: Caller, { tool, client, values }: SentAnswer): Promise<void> {
  if (values.length === 0) return;
  const { project, name } = caller;
  const [run, call] = [project.runId, newId('call')];
  const host = name === undefined ? client : `${client} of ${name}`;
  await project
    .egress()
    .recordTogether({ run, call, stage: 'mcp', tool, backend: 'mcp', host, model: '', values });
}
