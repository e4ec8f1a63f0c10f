import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { serveStdio } from '../../src/mcp/stdio/serve-stdio.ts';
import { openProject } from '../../src/project/open/open.ts';

/** Serves a project over MCP to a client of that name, and gives the answer to one query. */
export async function serveOnce(dir: string, sql: string): Promise<string> {
  const project = await openProject(dir);
  const [stdin, stdout, end] = [new PassThrough(), new PassThrough(), new AbortController()];
  const serving = serveStdio(project, { stdin, stdout, signal: end.signal });
  const lines = createInterface(stdout)[Symbol.asyncIterator]();
  const ask = async (method: string, params: object): Promise<string> => {
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
    return String((await lines.next()).value);
  };
  try {
    const clientInfo = { name: 'a made-up client', version: '1' };
    await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    return await ask('tools/call', { name: 'run_sql', arguments: { sql } });
  } finally {
    end.abort();
    await serving;
    await project.close();
  }
}
