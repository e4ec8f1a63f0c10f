import type { IngestReport } from '../../../ingest/report.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { suggestedBackend } from '../../../llm/backends.ts';
import type { Project } from '../../../project/open/open.ts';
import { defineCommand, type NextStep } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';
import { describeUsage } from '../../terminal/llm-text.ts';
import { describeIngest, describeTimes } from './ingest-report-text.ts';
import { removedSourceLines } from './open-work-text.ts';
import { ingestFailure, loadRunUsage, runIngest } from './run-ingest.ts';

export const ingestCommand = defineCommand({
  description:
    'Updates the project from its warehouses and sources: reads what changed, writes datasets, wiki pages, claims and items, and ' +
    'commits them. Keeps your edits. If nothing changed, it writes no file and makes no commit.',
  examples: [
    ['ktx ingest', 'every connection'],
    ['ktx ingest warehouse --dry-run', 'shows what would be read; writes nothing'],
    ['ktx ingest --no-llm', 'without the configured model, for example if its key is missing'],
    [
      'ktx ingest --json',
      'one event per line while it runs; the last line is the envelope with the report',
    ],
  ],
  define: (command) =>
    command
      .argument('[connections...]', 'which connections (default: all)')
      .option('--dry-run', 'only show what would be done')
      .option('--no-commit', 'write the files without committing them')
      .option('--branch <name>', 'commit on this branch, for a pull request; it need not exist')
      .option('--no-llm', 'make no model calls; what a model wrote before stays')
      .option(
        '--budget <usd>',
        'maximum cost of the model calls in this run; finished work is kept',
        parseDollars,
      )
      .option('--queue', 'let processes of ktx worker read the prose; needs serve.state')
      .option('--re-extract', 'let the model read everything again; costs as much as the first run')
      .option(
        '--forget <source...>',
        'remove what only this source supported; it is no longer in ktx.yaml. Without connections, nothing else is read',
      )
      .option(
        '--allow-empty',
        'accept that a source is now empty, and remove what only it supported',
      ),
  async run({ args: [connections], options: { dryRun = false, ...options } }, context) {
    if (options.branch !== undefined && !options.commit)
      throw usageError('--branch and --no-commit exclude each other.', 'give one of them');
    if (options.queue === true && options.reExtract === true)
      throw usageError('--queue and --re-extract exclude each other.', 'give one of them');
    const project = await context.project({ workload: 'scan' });
    const report = await runIngest(project, { connections, dryRun, ...options }, context);
    const calledModel = hasModelCalls(report);
    const usage = calledModel ? await loadRunUsage(project) : [];
    const { listRemovedSources } = await import('../../../project/learn/removed-sources.ts');
    const former = await listRemovedSources(project);
    return {
      data: { ...report, former, ...(calledModel && { usage }) },
      text: describeIngest(report, context.screen).join('\n'),
      notes: [
        ...removedSourceLines(former),
        ...(calledModel ? [describeUsage(usage)] : []),
        ...describeTimes(report),
      ],
      exitCode: report.exitCode,
      failure: ingestFailure(report),
      next: nextSteps(report, project),
    };
  },
});

function hasModelCalls({ connections, stages }: IngestReport): boolean {
  const calledInScan = connections.some(({ descriptions, judgements, names }) =>
    [descriptions, judgements, names].some((work) => (work?.calls ?? 0) > 0),
  );
  return calledInScan || stages.some(({ calls }) => calls > 0);
}

function nextSteps(report: IngestReport, { config }: Project): readonly NextStep[] {
  const { connections, sources, quarantined, leftAlone, exitCode, dryRun } = report;
  if (exitCode !== 0 || dryRun) {
    const isFileBroken =
      leftAlone.length > 0 ||
      quarantined.some(({ subject }) => subject.startsWith('semantic-layer/'));
    if (isFileBroken) return [['ktx sl validate', 'shows what is wrong, and where']];
    return quarantined.length > 0 ? [['ktx check', 'lists a fix for everything left out']] : [];
  }
  const pending = sources.reduce((sum, source) => sum + source.pending.length, 0);
  const needsModel = pending > 0 && config.llm.provider.backend === 'none';
  const modelStep: NextStep = [
    `ktx setup --llm-backend ${suggestedBackend}`,
    `lets a model read ${formatCount(pending, 'item')}`,
  ];
  const hasDoubts = connections.some(({ relationships }) => relationships.review > 0);
  const reviewSteps: NextStep[] = hasDoubts
    ? [['ktx review', 'shows the joins that are in doubt, and asks about each']]
    : [];
  const { branch } = report.commit;
  const pushStep: NextStep[] =
    branch === undefined
      ? []
      : [[`git push -u origin ${quoteBranch(branch)}`, 'publishes the branch, for a pull request']];
  return [
    ...pushStep,
    ...(needsModel ? [modelStep] : []),
    ...reviewSteps,
    ['ktx sl list', 'lists datasets and metrics'],
    ['ktx sl query --help', 'explains how to query them'],
    ['ktx explain "<subject>"', 'shows where a fact comes from'],
  ];
}

/** For a shell. Git takes `$`, `&` and quotes in a name. */
function quoteBranch(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`;
}

function parseDollars(text: string): number {
  const amount = Number(text.replace(/^\$/, ''));
  if (Number.isFinite(amount) && amount > 0) return amount;
  throw usageError(`${text} is not an amount in dollars.`, 'for example: --budget 2.00');
}
