import {
  createSdkMcpServer,
  type McpSdkServerConfigWithInstance,
  tool,
} from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { newId } from '../../lib/id.ts';
import type { KtxToolSet } from '../port/runtime.ts';
import { callTool } from '../port/tool-set.ts';
import { serverName } from './isolation.ts';

/**
 * The tools of one call as an MCP server inside this process. Fresh for each: two calls that share one lose its tools.
 * The model sees markdown only; structured content would take its place.
 */
export function toolServer(tools: KtxToolSet): McpSdkServerConfigWithInstance {
  const served = Object.values(tools).map((descriptor) =>
    tool(
      descriptor.name,
      descriptor.description,
      descriptor.inputSchema.shape,
      async (input, extra) => {
        const { markdown, isError } = await callTool(descriptor, input, { id: callId(extra) });
        return { content: [{ type: 'text', text: markdown }], ...(isError ? { isError } : {}) };
      },
    ),
  );
  return createSdkMcpServer({
    name: serverName,
    version: '1.0.0',
    alwaysLoad: true,
    tools: served,
  });
}

const metaSchema = z.looseObject({ 'claudecode/toolUseId': z.string() });

/** The model's id of the call. */
function callId(extra: unknown): string {
  const meta: unknown = extra instanceof Object ? Reflect.get(extra, '_meta') : undefined;
  return metaSchema.safeParse(meta).data?.['claudecode/toolUseId'] ?? newId('call');
}
