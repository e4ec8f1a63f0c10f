import { defineCommand } from '../../command.ts';
import { parsePositiveInteger } from '../../flags/parse-number.ts';

const defaultLimit = 20;

export const runsCommand = defineCommand({
  description: 'Lists past runs with their figures; with --json also the outcome of every case.',
  examples: [['ktx eval runs', 'the newest runs, the last one at the end']],
  hasRows: true,
  define: (command) =>
    command.option(
      '--limit <runs>',
      `how many (default: ${defaultLimit})`,
      parsePositiveInteger,
      defaultLimit,
    ),
  async run({ options: { limit } }, context) {
    const { dir } = await context.project();
    const { listRuns } = await import('../../../eval/report/run-list.ts');
    const runs = await listRuns(dir, limit);
    const columns = ['run', 'started', 'cases', 'passed', 'flaky', 'USD'].map((name) => ({ name }));
    const rows = runs.map(({ id, started, summary }) => [
      id,
      started.slice(0, 16).replace('T', ' '),
      summary.cases,
      summary.counts.pass,
      summary.flaky,
      summary.cost_usd === undefined ? '' : (summary.cost_usd.value * summary.cases).toFixed(4),
    ]);
    return {
      data: { runs },
      verbatim: true,
      table: { columns, rows },
      notes: runs.length === 0 ? ['No eval has run yet.'] : [],
      next: runs.length === 0 ? [['ktx eval run']] : [['ktx eval report', 'shows the last one']],
    };
  },
});
