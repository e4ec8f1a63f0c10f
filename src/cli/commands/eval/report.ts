import { defineCommand } from '../../command.ts';
import { describeCase, describeComparison, describeFigures, describeGroups } from './eval-text.ts';
import { addReportFlags, writeReports } from './write-reports.ts';

export const reportCommand = defineCommand({
  description: 'Shows a past run, or writes it as JUnit XML, Markdown or HTML.',
  examples: [
    ['ktx eval report', 'the last run'],
    ['ktx eval report --html eval.html', 'a page that works offline'],
    [
      'ktx eval report last --baseline previous --markdown comment.md',
      'with what changed since the run before',
    ],
  ],
  define: (command) =>
    addReportFlags(
      command
        .argument('[run]', 'id, last, previous, or a file', 'last')
        .option('--baseline <run>', 'show what changed since that run'),
    ),
  async run({ args: [name], options }, context) {
    const { dir } = await context.project();
    const [
      { readRun },
      { compareRuns },
      { columnsWithBaseline, summaryColumns },
      { figureGroups },
    ] = await Promise.all([
      import('../../../eval/run/run-file.ts'),
      import('../../../eval/report/compare-runs.ts'),
      import('../../../eval/report/summary.ts'),
      import('../../../eval/report/figure-groups.ts'),
    ]);
    const { screen, host } = context;
    const run = await readRun(dir, name, host.cwd);
    const comparison =
      options.baseline === undefined
        ? undefined
        : compareRuns(await readRun(dir, options.baseline, host.cwd), run);
    const groups = figureGroups(run);
    const text = [
      ...run.cases.map((result) => describeCase(result, screen)),
      '',
      describeFigures(columnsWithBaseline(comparison?.summaries[0], run), screen),
      ...describeGroups(groups, screen),
      ...(comparison === undefined ? [] : ['', describeComparison(comparison, screen)]),
    ];
    const columns = summaryColumns(run).map(({ title, summary }) => ({ title, ...summary }));
    return {
      data: {
        run,
        columns,
        groups: groups.map(({ summary, ...group }) => ({ ...group, ...summary })),
        comparison,
      },
      verbatim: true,
      text: text.join('\n'),
      notes: await writeReports(options, { run, comparison }, context),
    };
  },
});
