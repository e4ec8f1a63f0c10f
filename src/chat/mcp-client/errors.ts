import { UserError } from '../../lib/error.ts';

/** The server could not be reached, or its answer failed. */
export function serverFailedError(name: string, reason: string, cause: unknown): UserError {
  const hint = `start it by hand to see its messages, or set mcp_servers.${name}.required: false`;
  return new UserError('mcp_server_failed', `The MCP server ${name} does not answer: ${reason}.`, {
    hint,
    cause,
  });
}

/** The settings of the server, or its tools, cannot be used. */
export function invalidServerError(name: string, reason: string, hint: string): UserError {
  return new UserError('mcp_server_invalid', `The MCP server ${name} cannot be used: ${reason}.`, {
    hint,
    exitCode: 2,
  });
}

/** A server sent more than ktx reads. The connection to it ends. */
export class ServerLimitError extends Error {
  override readonly name = 'ServerLimitError';
}
