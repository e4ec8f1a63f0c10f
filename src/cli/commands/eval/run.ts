import { resolve } from 'node:path';
import type { RunComparison } from '../../../eval/report/compare-runs.ts';
import type { AttemptLog, AttemptLogHeader, UnfinishedRun } from '../../../eval/run/attempt-log.ts';
import type { CaseResult, EvalRun } from '../../../eval/run/run-schema.ts';
import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { Project } from '../../../project/open/open.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';
import { describeCase, describeComparison, describeFigures, describeGroups } from './eval-text.ts';
import { parseBudget, parseCount, parseMinutes } from './run-limits.ts';
import { addReportFlags, writeReports } from './write-reports.ts';

const defaultConcurrency = 2;

export const runCommand = defineCommand({
  description:
    'Runs the question sets in evals/ against your agents, each case in its own conversation, and grades rows, metrics, tool calls and ' +
    'text. Exit code 0: everything passed; 1: a case failed; 2: a file or the configuration is wrong; 3: nothing failed, but some cases ' +
    'could not be graded. Writes and external tools are off. The run is kept in .ktx/evals.',
  examples: [
    ['ktx eval run', 'every question set'],
    ['ktx eval run revenue --repeat 5', 'shows pass rates and flaky cases'],
    [
      'ktx eval run --baseline evals/baseline.json --fail-on-regression --junit eval.xml',
      'for CI: fails only if a case passed before',
    ],
    [
      'ktx eval run --without-context',
      'shows what the context layer adds: accuracy, tokens, cost, time',
    ],
  ],
  define: (command) =>
    addReportFlags(
      command
        .argument('[sets...]', 'names of question sets (default: all)')
        .option('--case <id...>', 'only these cases')
        .option('--tag <tag...>', 'only cases with one of these tags')
        .option('--agent <name>', 'override the agent of the files')
        .option('--repeat <n>', 'ask each case this many times', parseCount)
        .option(
          '--concurrency <n>',
          `cases at once (default: llm.concurrency, or ${defaultConcurrency})`,
          parseCount,
        )
        .option('--budget <usd>', 'stop before the run costs more than this', parseBudget)
        .option('--max-minutes <n>', 'start no case after this time', parseMinutes)
        .option('--resume', 'continue the last run that did not end; nothing is asked twice')
        .option('--without-context', 'ask everything a second time without any context')
        .option('--baseline <run>', 'compare with a run: id, last, or a file')
        .option(
          '--fail-on-regression',
          'exit with 1 only if a case passed in the baseline and does not now',
        )
        .option('--save <file>', 'also save the run as a file, as a baseline for git')
        .option('--allow-side-effects', 'allow writes and external tools, without asking'),
    ),
  async run({ args: [names], options }, context) {
    const failsOnRegression = options.failOnRegression === true;
    if (failsOnRegression && options.baseline === undefined)
      throw usageError('--fail-on-regression needs a baseline.', '--baseline last');
    const project = await context.project({ budget: options.budget });
    const [
      { loadQuestionSets },
      { readRun },
      { compareRuns, requireSharedCases },
      { readUnfinishedRun },
    ] = await Promise.all([
      import('../../../eval/cases/question-set.ts'),
      import('../../../eval/run/run-file.ts'),
      import('../../../eval/report/compare-runs.ts'),
      import('../../../eval/run/attempt-log.ts'),
    ]);
    const resumed = options.resume === true ? await readUnfinishedRun(project.dir) : undefined;
    const selection = resumed?.header.selection ?? selectionOf(names, options);
    const sets = await loadQuestionSets(project.dir, selection);
    const baseline =
      options.baseline === undefined
        ? undefined
        : await readRun(project.dir, options.baseline, context.host.cwd);
    if (baseline !== undefined && failsOnRegression) {
      const ids = sets.flatMap(({ cases }) => cases.map(({ id }) => id));
      requireSharedCases(baseline, ids);
    }
    const { concurrency, maxMinutes } = options;
    const flags = { sets, selection, concurrency, maxMinutes, resumed };
    const { run, log } = await runQuestionSets(project, flags, context);
    const saveError = await saveRun(project, { run, copy: options.save }, context);
    // What was not asked can still be: the log stays until the run is whole.
    if (saveError === undefined && !run.interrupted && !isIncomplete(run)) await log.remove();
    const comparison = baseline && compareRuns(baseline, run);
    const reportLines = await writeReports(options, { run, comparison }, context);
    return evalResult({ run, comparison, reportLines, failsOnRegression, saveError }, context);
  },
});

type Selection = AttemptLogHeader['selection'];

interface SelectionFlags {
  readonly case?: string[] | undefined;
  readonly tag?: string[] | undefined;
  readonly agent?: string | undefined;
  readonly repeat?: number | undefined;
  readonly withoutContext?: true | undefined;
  readonly allowSideEffects?: true | undefined;
}

function selectionOf(sets: readonly string[], flags: SelectionFlags): Selection {
  return {
    sets: [...sets],
    cases: flags.case,
    tags: flags.tag,
    agent: flags.agent,
    repeat: flags.repeat,
    withoutContext: flags.withoutContext === true,
    allowSideEffects: flags.allowSideEffects === true,
  };
}

interface RunFlags {
  readonly sets: Parameters<typeof import('../../../eval/run/run-evals.ts').runEvals>[1]['sets'];
  readonly selection: Selection;
  readonly concurrency?: number | undefined;
  readonly maxMinutes?: number | undefined;
  readonly resumed: UnfinishedRun | undefined;
}

/**
 * Runs the cases and prints each when it ends. The returned run is redacted, like everything that
 * is printed or kept.
 */
async function runQuestionSets(
  project: Project,
  { sets, selection, concurrency, maxMinutes, resumed }: RunFlags,
  context: CommandContext,
): Promise<{ readonly run: EvalRun; readonly log: AttemptLog }> {
  const [{ runEvals }, { redactRun, withoutNearestRows }, { openAttemptLog, requireSameContext }] =
    await Promise.all([
      import('../../../eval/run/run-evals.ts'),
      import('../../../eval/run/redact-run.ts'),
      import('../../../eval/run/attempt-log.ts'),
    ]);
  const { llm, telemetry } = project.config;
  const patterns = telemetry.redaction_patterns;
  const id = resumed?.header.id ?? project.runId;
  const started = resumed?.header.started ?? new Date().toISOString();
  if (resumed !== undefined)
    context.printNote(`Continuing ${id}: ${formatCount(resumed.kept, 'attempt')} kept.`);
  let log: AttemptLog | undefined;
  const showCase = caseReporter(context, (result) => redactRun(result, patterns));
  const { agent, repeat, withoutContext, allowSideEffects } = selection;
  const run = await runEvals(project, {
    sets,
    id,
    agent,
    repeat,
    withoutContext,
    allowSideEffects,
    concurrency: concurrency ?? llm.concurrency ?? defaultConcurrency,
    mostMs: maxMinutes === undefined ? undefined : maxMinutes * 60_000,
    done: resumed?.done ?? (() => []),
    onStart(now) {
      if (resumed !== undefined) requireSameContext(resumed.header.context, now);
      const header = { version: 1 as const, id, started, selection, context: now };
      log = openAttemptLog(project.dir, header, (message) => context.printNote(message));
    },
    onAttempt: (finished) => log?.append(redactRun(withoutNearestRows(finished), patterns)),
    signal: context.signal,
    warn: (message) => context.printNote(message),
    onCase: showCase,
  });
  const kept = redactRun(withoutNearestRows({ ...run, started }), patterns);
  return { run: kept, log: log ?? { append: () => undefined, remove: () => Promise.resolve() } };
}

/** Prints each case as it ends, and how long the others will take. */
function caseReporter(context: CommandContext, redact: (result: CaseResult) => CaseResult) {
  const begun = performance.now();
  return (
    result: CaseResult,
    progress: { readonly done: number; readonly of: number; readonly context: boolean },
  ): void => {
    const { done, of, context: hasContext } = progress;
    const { id, outcome } = result;
    context.printEvent({ type: 'case_ended', id, outcome, context: hasContext, done, of });
    if (hasContext) context.printNote(describeCase(redact(result), context.screen));
    const suffix = hasContext ? '' : ', without context';
    const minutes = (((performance.now() - begun) / done) * (of - done)) / 60_000;
    const left = done < of && minutes >= 1 ? `, about ${Math.round(minutes)} min left` : '';
    context.progress.update(`${done} of ${formatCount(of, 'case')}${suffix}${left}`);
  };
}

/** True if the run ended before it had asked everything. */
function isIncomplete({ cases, without_context: bare = [] }: EvalRun): boolean {
  return [...cases, ...bare].some(({ reason = '' }) => reason.startsWith('not asked'));
}

/**
 * Keeps the run in .ktx/evals, and a copy if asked. Returns the error if the disk refuses: the run
 * was paid for, so it is still printed.
 */
async function saveRun(
  { dir }: Project,
  { run, copy }: { run: EvalRun; copy: string | undefined },
  { host }: CommandContext,
): Promise<UserError | undefined> {
  const [{ writeRun }, { readText, writeAtomically }] = await Promise.all([
    import('../../../eval/run/run-file.ts'),
    import('../../../store/files.ts'),
  ]);
  let path: string;
  try {
    path = await writeRun(dir, run);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  if (copy !== undefined)
    await writeAtomically(resolve(host.cwd, copy), (await readText(path)) ?? '');
  return undefined;
}

interface EvalReport {
  readonly run: EvalRun;
  readonly comparison: RunComparison | undefined;
  readonly reportLines: readonly string[];
  readonly failsOnRegression: boolean;
  /** Set if the run could not be saved. */
  readonly saveError: UserError | undefined;
}

async function evalResult(report: EvalReport, { screen }: CommandContext): Promise<CommandResult> {
  const { run, comparison, reportLines, saveError } = report;
  const [
    { columnsWithBaseline, summaryColumns },
    { comparePairs, describePairs },
    { figureGroups },
  ] = await Promise.all([
    import('../../../eval/report/summary.ts'),
    import('../../../eval/report/compare-pairs.ts'),
    import('../../../eval/report/figure-groups.ts'),
  ]);
  const groups = figureGroups(run);
  const text = [
    describeFigures(columnsWithBaseline(comparison?.summaries[0], run), screen),
    ...describeGroups(groups, screen),
    ...(comparison === undefined ? [] : ['', describeComparison(comparison, screen)]),
  ];
  const columns = summaryColumns(run).map(({ title, summary }) => ({ title, ...summary }));
  const bare = run.without_context;
  const gain = bare && comparePairs(bare, run.cases);
  if (gain !== undefined) text.push('', `With context ${describePairs(gain)}.`);
  const saveNotes =
    saveError === undefined ? [] : [`This run could not be saved: ${saveError.message}`];
  return {
    data: {
      run,
      columns,
      groups: groups.map(({ summary, ...group }) => ({ ...group, ...summary })),
      comparison,
      gain,
    },
    verbatim: true,
    text: text.join('\n'),
    notes: [...reportLines, ...saveNotes],
    next: [['ktx eval compare previous last', 'shows what changed since the run before']],
    failure: (await evalFailure(report)) ?? saveError,
  };
}

async function evalFailure(report: EvalReport): Promise<UserError | undefined> {
  const { run, comparison, failsOnRegression } = report;
  const [{ evalExitCode }, { brokenCases }] = await Promise.all([
    import('../../../eval/run/outcome.ts'),
    import('../../../eval/report/compare-runs.ts'),
  ]);
  if (run.interrupted) {
    return new UserError('interrupted', 'Interrupted; the answers so far are in .ktx/evals.', {
      hint: 'ktx eval run --resume',
      exitCode: 130,
      retryable: true,
    });
  }
  if (comparison !== undefined && failsOnRegression) {
    const broken = brokenCases(comparison);
    if (broken.length === 0) return undefined;
    const message = `${formatCount(broken.length, 'case')} passed before and not now.`;
    return new UserError('eval_regressed', message, {
      hint: broken.map(({ id }) => id).join(', '),
    });
  }
  const exitCode = evalExitCode(run.cases.map(({ outcome }) => outcome));
  if (exitCode === 0 && isIncomplete(run)) {
    const left = run.cases.filter(({ outcome }) => outcome === 'skipped').length;
    const hint = 'ktx eval run --resume asks the others';
    const message = `${formatCount(left, 'case')} of ${run.cases.length} not asked.`;
    return new UserError('eval_incomplete', message, { hint, exitCode: 3 });
  }
  if (exitCode === 0) return undefined;
  const notPassed = run.cases.filter(({ outcome }) => evalExitCode([outcome]) !== 0);
  const count = formatCount(notPassed.length, 'case');
  const hint = `ktx eval run --case ${notPassed[0]?.id ?? ''} runs one again`;
  return exitCode === 1
    ? new UserError('eval_failed', `${count} did not pass.`, { hint })
    : new UserError('eval_undecided', `${count} could not be graded.`, { hint, exitCode });
}
