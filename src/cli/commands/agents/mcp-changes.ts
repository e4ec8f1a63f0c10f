import { formatCount } from '../../../lib/format-count.ts';
import { defineCommand } from '../../command.ts';

const columns = ['change', 'kind', 'by', 'state', 'where'];

export const changesCommand = defineCommand({
  description:
    'Lists what people proposed through the server with serve.changes: pull_request, and asks the ' +
    'host of the repository what became of it. What is merged or closed is listed once more.',
  examples: [
    ['ktx mcp changes', 'what waits for a reviewer, and what the host did not take'],
    ['ktx mcp changes --send', 'sends the rest, and puts the open ones on the base as it is now'],
  ],
  hasRows: true,
  define: (command) => command.option('--send', 'send again what is not there, or on an old base'),
  async run({ options }, context) {
    const project = await context.project();
    const [{ listChangesOnHost }, { loopTools }] = await Promise.all([
      import('../../../project/propose/list-changes.ts'),
      import('../../../tools/loop-tools.ts'),
    ]);
    const changes = await listChangesOnHost(project, {
      send: options.send === true,
      signal: context.signal,
      tools: loopTools(project),
      runId: project.runId,
    });
    const problems = changes.flatMap(({ id, problem }) =>
      problem === undefined ? [] : [`${id}: ${problem.message}`],
    );
    return {
      data: { changes },
      table: {
        columns: columns.map((name) => ({ name, type: 'string' as const })),
        rows: changes.map(({ id, kind, author, state, url, branch }) => [
          id,
          kind,
          author,
          state,
          url ?? branch,
        ]),
      },
      notes: [formatCount(changes.length, 'change'), ...problems],
    };
  },
});
