import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import { defineCommand } from '../../command.ts';
import { comparisonText, figuresText } from './run-text.ts';

export const compareCommand = defineCommand({
  description:
    'What changed between two runs: cases that broke or were mended, each with the difference of the SQL behind its answer; and what of ' +
    'the context differs. A run is its id, last, previous, or a file.',
  examples: [
    ['ktx eval compare previous last', 'what the last change did'],
    [
      'ktx eval compare evals/baseline.json last --fail-on-regression',
      'exit code 1 where a case broke',
    ],
  ],
  define: (command) =>
    command
      .argument('<before>', 'the older run')
      .argument('[after]', 'the newer one', 'last')
      .option('--fail-on-regression', 'exit code 1 where a case passed before and does not now'),
  async run({ args: [before, after], options }, context) {
    const { dir } = await context.project();
    const [{ readRun }, { compareRuns, brokenCases, requireSharedCases }] = await Promise.all([
      import('../../../eval/run/run-file.ts'),
      import('../../../eval/report/compare-runs.ts'),
    ]);
    const [old, now] = [
      await readRun(dir, before, context.host.cwd),
      await readRun(dir, after, context.host.cwd),
    ];
    if (options.failOnRegression === true)
      requireSharedCases(
        old,
        now.cases.map(({ id }) => id),
      );
    const comparison = compareRuns(old, now);
    const worse = brokenCases(comparison);
    const columns = comparison.summaries.map((summary, at) => ({
      title: [comparison.before, comparison.after][at] ?? '',
      summary,
    }));
    const isFailed = options.failOnRegression === true && worse.length > 0;
    const hint = worse.map(({ id }) => id).join(', ');
    return {
      data: { ...comparison, regressions: worse.map(({ id }) => id) },
      text: [
        figuresText(columns, context.screen),
        '',
        comparisonText(comparison, context.screen),
      ].join('\n'),
      failure: isFailed
        ? new UserError('eval_regressed', `${formatCount(worse.length, 'case')} broke.`, { hint })
        : undefined,
    };
  },
});
