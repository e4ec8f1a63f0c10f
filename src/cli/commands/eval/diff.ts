import { defineCommand } from '../../command.ts';
import { parsePositiveInteger } from '../../flags/parse-number.ts';

export const diffCommand = defineCommand({
  description:
    'Shows the rows that a case expects beside those of an answer, cell by cell. A run keeps no ' +
    'rows: both statements run again, through the read-only gate, as the warehouse is now.',
  examples: [
    ['ktx eval diff revenue/by-region', 'of the last run'],
    ['ktx eval diff revenue/by-region --run previous --attempt 2', 'another answer'],
  ],
  hasRows: true,
  define: (command) =>
    command
      .argument('<case>', 'id of the case, with or without its set')
      .option('--run <run>', 'id, last, previous, or a file', 'last')
      .option(
        '--attempt <number>',
        'which of its answers (default: the first that did not pass)',
        parsePositiveInteger,
      ),
  async run({ args: [caseId], options }, context) {
    const project = await context.project();
    const { compareAnswer } = await import('../../../eval/report/rows/compare-answer.ts');
    const asked = { run: options.run, caseId, attempt: options.attempt, cwd: context.host.cwd };
    const compared = await compareAnswer(project, asked, context.signal);
    const { columns, rows, counts, unlisted, truncated, query } = compared;
    const names = columns.map(({ expected, actual }) => ({ name: expected ?? `+${actual ?? ''}` }));
    const lines = rows.flatMap(({ kind, expected, actual, differs }) => {
      if (expected === undefined) return [['+', ...(actual ?? [])]];
      if (actual === undefined) return [['-', ...expected]];
      if (kind === 'same') return [['same', ...expected]];
      const changed = actual.map((cell, index) => (differs[index] === true ? cell : undefined));
      return [
        ['expected', ...expected],
        ['got', ...changed],
      ];
    });
    return {
      data: compared,
      table: { columns: [{ name: 'row' }, ...names], rows: lines },
      notes: [
        `${counts.same} rows are the same, ${counts.different} differ, ${counts.missing} are missing (-), ${counts.superfluous} superfluous (+) in ${query}.`,
        ...(unlisted > 0 ? [`${unlisted} more are not listed.`] : []),
        ...(truncated ? ['A result was cut off: what seems to be missing may be there.'] : []),
      ],
    };
  },
});
