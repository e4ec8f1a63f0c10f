import { defineCommand } from '../../command.ts';

export const serveCommand = defineCommand({
  description:
    'Serves search_context, read_context, query_metrics and run_sql over stdio, for an agent that starts it itself.',
  examples: [
    ['claude mcp add ktx -- ktx mcp serve --project-dir /path/to/project', 'for Claude Code'],
  ],
  define: (command) => command,
  async run(_input, context) {
    const project = await context.project();
    const { serveStdio } = await import('../../../mcp/server.ts');
    const { stdin, stdout } = context.host;
    await serveStdio(project, { stdin, stdout, signal: context.signal });
    return undefined;
  },
});
