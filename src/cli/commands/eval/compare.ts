import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { defineCommand } from '../../command.ts';
import { describeComparison, describeFigures } from './eval-text.ts';

export const compareCommand = defineCommand({
  description:
    'Compares two runs: which cases broke or were fixed, with the difference in their SQL, and which parts of the context changed. A run ' +
    'is its id, last, previous, or a file.',
  examples: [
    ['ktx eval compare previous last', 'the effect of the last change'],
    [
      'ktx eval compare evals/baseline.json last --fail-on-regression',
      'exits with 1 if a case broke',
    ],
  ],
  define: (command) =>
    command
      .argument('<before>', 'the older run')
      .argument('[after]', 'the newer run', 'last')
      .option('--fail-on-regression', 'exit with 1 if a case passed before and does not now'),
  async run({ args: [before, after], options }, context) {
    const { dir } = await context.project();
    const [{ readRun }, { brokenCases, compareRuns, requireSharedCases }] = await Promise.all([
      import('../../../eval/run/run-file.ts'),
      import('../../../eval/report/compare-runs.ts'),
    ]);
    const { screen, host } = context;
    const oldRun = await readRun(dir, before, host.cwd);
    const newRun = await readRun(dir, after, host.cwd);
    const failsOnRegression = options.failOnRegression === true;
    if (failsOnRegression) {
      const ids = newRun.cases.map(({ id }) => id);
      requireSharedCases(oldRun, ids);
    }
    const comparison = compareRuns(oldRun, newRun);
    const titles = [comparison.before, comparison.after];
    const columns = comparison.summaries.map((summary, index) => ({
      title: titles[index] ?? '',
      summary,
    }));
    const broken = brokenCases(comparison).map(({ id }) => id);
    const failure = new UserError(
      'eval_regressed',
      `${formatCount(broken.length, 'case')} broke.`,
      {
        hint: broken.join(', '),
      },
    );
    return {
      data: { ...comparison, regressions: broken },
      text: [describeFigures(columns, screen), '', describeComparison(comparison, screen)].join(
        '\n',
      ),
      failure: failsOnRegression && broken.length > 0 ? failure : undefined,
    };
  },
});
