import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  inputRequired,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller } from '../../../src/mcp/caller.ts';
import { takesTasks, taskResult, tasksExtension } from '../../../src/mcp/tasks/task-methods.ts';
import { form, text } from './fixture-results.ts';

type Work = (given: { readonly signal: AbortSignal }) => Promise<CallToolResult>;

const computed = z.object({ seconds: z.number().default(0), label: z.string().default('') });
const given = z.object({ content: z.object({ name: z.string() }) });

const works: Readonly<Record<string, (input: unknown) => Work>> = {
  slow_compute:
    (input) =>
    async ({ signal }) => {
      const { seconds, label } = computed.parse(input ?? {});
      await sleep(seconds * 1000, undefined, { signal });
      return text(`computed ${label}`);
    },
  failing_job:
    () =>
    async ({ signal }) => {
      await sleep(1000, undefined, { signal });
      return { ...text('the job failed'), isError: true };
    },
  protocol_error_job: () => async () => {
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'the job broke');
  },
};
/** Those that the suite wants to be refused without the extension. */
const withTasksOnly: ReadonlySet<string> = new Set(['failing_job']);

export const taskToolNames: readonly string[] = [...Object.keys(works), 'test_tool_with_task'];

/** Runs a tool of the suite as a call of ktx that takes long; undefined for any other tool. */
export async function callTaskTool(
  caller: Pick<Caller, 'tasks'>,
  { name, input }: { readonly name: string; readonly input: unknown },
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult | undefined> {
  if (name === 'test_tool_with_task') return askThenBegin(caller, context);
  const work = works[name]?.(input);
  if (work === undefined) return undefined;
  if (takesTasks(context)) return taskResult(caller.tasks.begin(work));
  if (withTasksOnly.has(name))
    throw new MissingRequiredClientCapabilityError({
      requiredCapabilities: { extensions: { [tasksExtension]: {} } },
    });
  return work({ signal: context.mcpReq.signal });
}

/** Asks first; what was answered is in the result of the task. */
function askThenBegin(
  { tasks }: Pick<Caller, 'tasks'>,
  { mcpReq }: ServerContext,
): CallToolResult | InputRequiredResult {
  const { data } = given.safeParse(mcpReq.inputResponses?.['user_name']);
  if (data !== undefined)
    return taskResult(tasks.begin(async () => text(`Hello, ${data.content.name}!`)));
  const user_name = inputRequired.elicit({
    message: 'What is your name?',
    requestedSchema: form('name'),
  });
  return inputRequired({ inputRequests: { user_name } });
}
