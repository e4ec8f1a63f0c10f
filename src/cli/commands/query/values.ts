import { defineCommand } from '../../command.ts';

export const values = defineCommand({
  description:
    'Finds the fields that hold a value, spelled as the warehouse has it, by what the last scan saw of columns with few values. ' +
    'Values stay in .ktx; personal ones are not kept, nor those of columns under scan.no_values.',
  examples: [['ktx values cancelled', 'which status it is, and of what']],
  rows: true,
  define: (command) =>
    command
      .argument('<words...>', 'the value, or a part of it')
      .option('--connection <name>', 'only this one'),
  async run({ args: [words], options: { connection } }, context) {
    const project = await context.project();
    const { findValues } = await import('../../../project/answer/values.ts');
    const hits = await findValues(project, words.join(' '), connection);
    return {
      data: { hits },
      table: {
        columns: ['value', 'field', 'connection'].map((name) => ({ name })),
        rows: hits.map((hit) => [hit.value, `${hit.dataset}.${hit.field}`, hit.connection]),
      },
      notes:
        hits.length === 0
          ? [
              'No column of few values has it; it may stand in one of many, or be personal and not kept.',
            ]
          : [],
      next: hits.length === 0 ? ['ktx ingest  scans what is new'] : [],
    };
  },
});
