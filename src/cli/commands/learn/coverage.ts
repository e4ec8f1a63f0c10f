import { defineCommand } from '../../command.ts';

export const coverageCommand = defineCommand({
  description:
    'Lists what the sources say and ktx did not take, each with its place and the reason. Reads the items of the last ingest; ' +
    'asks no source and no model.',
  examples: [
    ['ktx coverage', 'all sources'],
    ['ktx coverage dbt --json', 'one source, for a program'],
  ],
  hasRows: true,
  define: (command) => command.argument('[source]', 'the source (default: all)'),
  async run({ args: [requested] }, context) {
    const project = await context.project();
    const { readCoverage } = await import('../../../project/learn/coverage.ts');
    const sources = await readCoverage(project, requested, context.signal);
    const columns = ['reason', 'about', 'place'].map((name) => ({ name }));
    const rows = sources.flatMap(({ missing }) =>
      missing.map(({ reason, name, place }) => [reason, name ?? '', place]),
    );
    return {
      data: { sources, columns, rows },
      table: { columns, rows },
      notes: sources.map(
        ({ connection, statements, arrived }) =>
          `${connection}: ${arrived} of ${statements} statements arrived`,
      ),
    };
  },
});
