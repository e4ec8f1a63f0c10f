import {
  CLIENT_CAPABILITIES_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** The type of a file that a client shows in a frame of its own. */
export const appType = 'text/html;profile=mcp-app';

const capabilitiesSchema = z.object({
  extensions: z.object({
    'io.modelcontextprotocol/ui': z.object({ mimeTypes: z.array(z.string()) }),
  }),
});

/** True if a client says that it shows apps. */
export function declaresApps(capabilities: unknown): boolean {
  const { data } = capabilitiesSchema.safeParse(capabilities);
  return data?.extensions['io.modelcontextprotocol/ui'].mimeTypes.includes(appType) === true;
}

/** A client of 2026 says it with each request, one of 2025 once. */
export function showsApps(
  server: Pick<Server, 'getClientCapabilities'>,
  { mcpReq }: ServerContext,
): boolean {
  const envelope = z.record(z.string(), z.unknown()).safeParse(mcpReq.envelope).data ?? {};
  return declaresApps(envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities());
}
