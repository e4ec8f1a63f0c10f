import { UserError } from '../../../lib/error.ts';
import type { Project } from '../../../project/open/open.ts';
import type { findGroupings, TrialPlans } from '../../../semantic/query/groupings.ts';
import { defineCommand } from '../../command.ts';

const connectionFlag = ['--connection <name>', 'the warehouse, if there are several'] as const;

export const dimensionsCommand = defineCommand({
  description:
    'Lists the fields that metrics can be grouped by. ' +
    'With several metrics, those that all of them share.',
  examples: [
    ['ktx sl dimensions orders.revenue', 'what revenue can be grouped by'],
    ['ktx sl dimensions orders.revenue returns.amount', 'what both can be grouped by'],
  ],
  hasRows: true,
  define: (command) =>
    command.argument('<metric...>', 'metrics, as in ktx sl query').option(...connectionFlag),
  async run({ args: [metrics], options }, context) {
    const { model, connection, plan } = await openPlanner(
      await context.project(),
      options.connection,
    );
    context.progress.update('trying the fields');
    const { findGroupings } = await import('../../../semantic/query/groupings.ts');
    const { groupings, needs, isComplete } = await plan((plans) =>
      findGroupings(model, metrics, { plans }),
    );
    const columns = ['dimension', 'type', 'join', 'description'].map((name) => ({ name }));
    const rows = groupings.map(({ dimension, type, description, isToMany }) => [
      dimension,
      type ?? '',
      isToMany ? 'to many' : '',
      firstLine(description),
    ]);
    const [first] = groupings;
    return {
      data: {
        connection,
        metrics,
        dimensions: groupings.map(({ isToMany, ...grouping }) => ({
          ...grouping,
          to_many: isToMany,
        })),
        needs,
        complete: isComplete,
      },
      table: { columns, rows },
      notes: [
        ...timeNotes(groupings),
        ...(needs.length === 0 ? [] : [`always with ${needs.join(' ')} or another period`]),
        ...(groupings.some(({ isToMany }) => isToMany)
          ? ['to many: a row counts in each of its groups']
          : []),
        ...(isComplete ? [] : ['only the nearest fields were tried']),
      ],
      next: first
        ? [
            [
              `ktx sl query -m ${metrics.join(' ')} -d ${[...needs, first.dimension].join(' ')}`,
              'query them',
            ],
          ]
        : [],
    };
  },
});

export const metricsCommand = defineCommand({
  description: 'Lists the metrics; with --by, those that can be grouped by the given fields.',
  examples: [
    ['ktx sl metrics', 'every metric'],
    ['ktx sl metrics --by customers.country', 'the metrics that have a country'],
  ],
  hasRows: true,
  define: (command) =>
    command
      .option('--by <dimension...>', 'fields to group by, as in ktx sl query')
      .option(...connectionFlag),
  async run({ options }, context) {
    const { by = [], connection: requested } = options;
    const { model, connection, plan } = await openPlanner(await context.project(), requested);
    context.progress.update('trying the metrics');
    const { findMetricsBy } = await import('../../../semantic/query/groupings.ts');
    const names = await plan((plans) => findMetricsBy(model, by, plans));
    const columns = [{ name: 'metric' }];
    return {
      data: { connection, by, metrics: names },
      table: { columns, rows: names.map((name) => [name]) },
      next: names[0] && by.length > 0 ? [[`ktx sl query -m ${names[0]} -d ${by.join(' ')}`]] : [],
    };
  },
});

/** The model of a warehouse, and a function that runs what tries plans on it. */
async function openPlanner(project: Project, requested: string | undefined) {
  const connection = project.connection(requested).name;
  const { model } = await project.model(connection);
  if (model.datasets.size === 0)
    throw new UserError('no_datasets', `${connection} has no valid dataset to query.`, {
      hint: model.excluded.size === 0 ? 'ktx ingest' : 'ktx sl validate',
    });
  const { withTrialPlans } = await import('../../../project/answer/query.ts');
  const plan = <T>(run: (plans: TrialPlans) => T): Promise<T> => withTrialPlans(model, run);
  return { connection, model, plan };
}

type Groupings = ReturnType<typeof findGroupings>['groupings'];

function timeNotes(groupings: Groupings): readonly string[] {
  const time = groupings.find(({ type }) => type?.startsWith('date') === true);
  return time === undefined ? [] : [`times take a period: ${time.dimension}.month`];
}

const firstLine = (text: string | undefined): string => text?.split('\n')[0] ?? '';
