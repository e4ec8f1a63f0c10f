import {
  createSdkMcpServer,
  type McpSdkServerConfigWithInstance,
  tool,
} from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { newId } from '../../lib/id.ts';
import type { KtxToolSet } from '../port/runtime.ts';
import { callTool } from '../port/tool-set.ts';
import { readPrompt } from '../prompt.ts';
import type { AnswerGate } from './conversation/answer-gate.ts';
import { serverName } from './isolation.ts';

/**
 * The program writes an answer that is longer than it likes into a file of the user's home, and
 * shows the model a piece of it, without the end of its marks. The limit on tokens is in
 * `child/env.ts`.
 */
const longestAnswer = { 'anthropic/maxResultSizeChars': 500_000 };

/** The call that a child serves at the moment. */
export interface ToolDesk {
  call: {
    readonly tools: KtxToolSet;
    /** Holds the tools back until the answer that calls them is whole. */
    readonly gate?: AnswerGate | undefined;
  };
}

/**
 * Serves tools as an MCP server inside this process. Make a new one for each child: if two children
 * share a server, one of them loses its tools. What runs are the tools of the call at the desk,
 * which the model is told the same of. The replies have no structured content, because the model
 * would see it instead of the Markdown.
 */
export function openToolServer(listed: KtxToolSet, desk: ToolDesk): McpSdkServerConfigWithInstance {
  const listedTools = Object.values(listed).map(({ name, description, inputSchema }) => {
    const definition = tool(name, description, inputSchema.shape, () =>
      Promise.reject(new Error('the server has a handler of its own')),
    );
    return Object.assign(definition, { _meta: longestAnswer });
  });
  const server = createSdkMcpServer({
    name: serverName,
    version: '1.0.0',
    alwaysLoad: true,
    tools: listedTools,
  });
  // The server would check the input first, and answer in the words of its protocol.
  server.instance.server.setRequestHandler(toolCallRequest, async ({ params }, extra) => {
    const { name, arguments: input } = params;
    const { tools, gate } = desk.call;
    const id = toolCallId(extra);
    if (id !== undefined && gate !== undefined && !(await gate.wait(id)))
      return toolAnswer(readPrompt('answer-broke-off'), true);
    const descriptor = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (descriptor === undefined) return toolAnswer(`There is no tool ${name}.`, true);
    const run = () => callTool(descriptor, input, { id: id ?? newId('call') });
    const { markdown, isError } = await (gate?.run(run) ?? run());
    await gate?.goesOn();
    return toolAnswer(markdown, isError);
  });
  return server;
}

const toolCallRequest = z.object({
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string(), arguments: z.unknown() }),
});

function toolAnswer(text: string, isError: boolean) {
  return { content: [{ type: 'text' as const, text }], ...(isError ? { isError } : {}) };
}

const metaSchema = z.looseObject({ 'claudecode/toolUseId': z.string() });

/** The model's id of the call, from the metadata of the request. */
function toolCallId(extra: unknown): string | undefined {
  const meta: unknown = extra instanceof Object ? Reflect.get(extra, '_meta') : undefined;
  return metaSchema.safeParse(meta).data?.['claudecode/toolUseId'];
}
