import { formatCount } from '../../../lib/format-count.ts';
import { listSavedQueries } from '../../../project/saved/saved-queries.ts';
import { defineCommand } from '../../command.ts';

export const queriesCommand = defineCommand({
  description:
    'Lists the saved queries: files of semantic-layer/<connection>/queries, each a query ' +
    'with a name.',
  examples: [
    ['ktx sl queries', 'every saved query'],
    ['ktx sl query --saved monthly_revenue', 'runs one'],
  ],
  hasRows: true,
  define: (command) => command.option('--connection <name>', 'only this warehouse'),
  async run({ options }, context) {
    const project = await context.project();
    const requested =
      options.connection === undefined ? undefined : project.connection(options.connection).name;
    const { queries, faults } = await listSavedQueries(project, requested);
    const hasOneConnection = requested !== undefined || project.warehouses.length === 1;
    const columns = [
      ...(hasOneConnection ? [] : ['connection']),
      'query',
      'metrics',
      'owner',
      'description',
    ].map((name) => ({ name }));
    const rows = queries.map(({ connection, name, query, owner = '', description = '' }) => [
      ...(hasOneConnection ? [] : [connection]),
      name,
      query.metrics.map((metric) => (typeof metric === 'string' ? metric : metric.name)).join(', '),
      owner,
      description.split('\n')[0] ?? '',
    ]);
    const [first] = queries;
    return {
      data: { queries, problems: faults },
      table: { columns, rows },
      notes:
        faults.length === 0
          ? []
          : [
              `${formatCount(faults.length, 'problem')} in saved queries; ktx sl validate shows where`,
            ],
      next:
        first !== undefined
          ? [[`ktx sl query --saved ${first.name}`]]
          : faults.length > 0
            ? [['ktx sl validate']]
            : [['ktx schema saved-query', 'what a file of queries/ has']],
    };
  },
});
