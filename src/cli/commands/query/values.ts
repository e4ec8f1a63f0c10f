import { defineCommand } from '../../command.ts';

export const valuesCommand = defineCommand({
  description:
    'Finds the fields that contain a value, and how the warehouse spells it. Searches what the last scan saw in columns with few ' +
    'distinct values. These values stay in .ktx. Personal values and columns under scan.no_values are not stored.',
  examples: [['ktx values cancelled', 'which fields have this status']],
  hasRows: true,
  define: (command) =>
    command
      .argument('<words...>', 'the value, or a part of it')
      .option('--connection <name>', 'only this connection'),
  async run({ args: [words], options: { connection } }, context) {
    const project = await context.project();
    const { findValues } = await import('../../../project/answer/values.ts');
    const { noValuesText } = await import('../../../tools/find-values.ts');
    const hits = await findValues(project, words.join(' '), connection);
    const isEmpty = hits.length === 0;
    return {
      data: { hits },
      // Without hits, the note says everything: no header without rows.
      table:
        isEmpty && context.screen.format === 'table'
          ? undefined
          : {
              columns: ['value', 'field', 'connection'].map((name) => ({ name })),
              rows: hits.map((hit) => [hit.value, `${hit.dataset}.${hit.field}`, hit.connection]),
            },
      notes: isEmpty ? [noValuesText] : [],
      next: isEmpty ? [['ktx ingest', 'scans what is new']] : [],
    };
  },
});
