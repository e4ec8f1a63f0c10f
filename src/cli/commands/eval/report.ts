import { defineCommand } from '../../command.ts';
import { reportOptions, writeReports } from './reports.ts';
import { caseText, comparisonText, figuresText } from './run-text.ts';

export const reportCommand = defineCommand({
  description: 'Shows a run that was kept, or writes it as JUnit, Markdown or one HTML file.',
  examples: [
    ['ktx eval report', 'the last run'],
    ['ktx eval report --html eval.html', 'a page to look at; it needs no network'],
    [
      'ktx eval report last --baseline previous --markdown comment.md',
      'with what changed since the run before',
    ],
  ],
  define: (command) =>
    reportOptions(
      command
        .argument('[run]', 'id, last, previous, or a file', 'last')
        .option('--baseline <run>', 'show what changed since that run'),
    ),
  async run({ args: [name], options }, context) {
    const { dir } = await context.project();
    const [{ readRun }, { compareRuns }, { columnsWithBaseline, summaryColumns }] =
      await Promise.all([
        import('../../../eval/run/run-file.ts'),
        import('../../../eval/report/compare-runs.ts'),
        import('../../../eval/report/summary.ts'),
      ]);
    const run = await readRun(dir, name, context.host.cwd);
    const comparison =
      options.baseline === undefined
        ? undefined
        : compareRuns(await readRun(dir, options.baseline, context.host.cwd), run);
    const parts = [
      ...run.cases.map((one) => caseText(one, context.screen)),
      '',
      figuresText(columnsWithBaseline(comparison?.summaries[0], run), context.screen),
    ];
    return {
      data: {
        run,
        columns: summaryColumns(run).map(({ title, summary }) => ({ title, ...summary })),
        comparison,
      },
      verbatim: true,
      text: [
        ...parts,
        ...(comparison === undefined ? [] : ['', comparisonText(comparison, context.screen)]),
      ].join('\n'),
      notes: await writeReports(options, { run, comparison }, context),
    };
  },
});
