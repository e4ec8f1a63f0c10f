import { defineCommand } from '../../command.ts';

export const serveCommand = defineCommand({
  description:
    'Starts an MCP server over stdio. An agent starts it itself and gets tools to search and read the context, query metrics, run ' +
    'read-only SQL, find values, remember notes, ingest, and list what waits for review.',
  examples: [
    [
      'claude mcp add ktx -- ktx mcp serve --project-dir /path/to/project',
      'adds it to Claude Code',
    ],
  ],
  define: (command) => command,
  async run(_input, context) {
    const project = await context.project({ mayAsk: false });
    const { serveStdio } = await import('../../../mcp/server.ts');
    const { stdin, stdout } = context.host;
    await serveStdio(project, { stdin, stdout, signal: context.signal });
    return undefined;
  },
});
