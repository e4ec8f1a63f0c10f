import { resolve } from 'node:path';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { RunComparison } from '../../../eval/report/compare-runs.ts';
import type { EvalRun } from '../../../eval/run/run-schema.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';
import { reportOptions, writeReports } from './reports.ts';
import { caseText, comparisonText, figuresText } from './run-text.ts';

export const runCommand = defineCommand({
  description:
    'Asks your agents the questions of evals/, each case in a conversation of its own, and grades rows, metrics, tool calls and text. ' +
    'Exit code 0: all passed; 1: something failed; 2: a file or the configuration is wrong; 3: nothing failed, but of something nothing can be said. ' +
    'Only context and queries run; the run is kept in .ktx/evals.',
  examples: [
    ['ktx eval run', 'every question set'],
    ['ktx eval run revenue --repeat 5', 'how reliable answers are: pass rates, and what is flaky'],
    [
      'ktx eval run --baseline evals/baseline.json --fail-on-regression --junit eval.xml',
      'for CI: fails where something passed before',
    ],
    ['ktx eval run --without-context', 'what the context layer adds: accuracy, tokens, cost, time'],
  ],
  define: (command) =>
    reportOptions(
      command
        .argument('[sets...]', 'names of question sets; all without')
        .option('--case <id...>', 'only these cases')
        .option('--tag <tag...>', 'only cases with one of these tags')
        .option('--agent <name>', 'in place of the agent of the files')
        .option('--repeat <n>', 'ask each case so often', countOf)
        .option('--concurrency <n>', 'cases at once; default llm.concurrency, else 2', countOf)
        .option('--without-context', 'ask everything a second time without any context')
        .option('--baseline <run>', 'compare with a run: id, last, or a file')
        .option(
          '--fail-on-regression',
          'exit code 1 where a case passed in the baseline and does not now, and only there',
        )
        .option('--save <file>', 'keep the run as a file too, as a baseline for git')
        .option('--allow-side-effects', 'let writes and tools of other servers run, unasked'),
    ),
  async run({ args: [names], options }, context) {
    if (options.failOnRegression === true && options.baseline === undefined) {
      throw usageError('--fail-on-regression compares with a run.', '--baseline last');
    }
    const project = await context.project();
    const [
      { loadQuestionSets },
      { runEvals },
      { readRun, writeRun },
      { redactRun, withoutNearestRows },
    ] = await Promise.all([
      import('../../../eval/cases/question-set.ts'),
      import('../../../eval/run/run-evals.ts'),
      import('../../../eval/run/run-file.ts'),
      import('../../../eval/run/redact-run.ts'),
    ]);
    const sets = await loadQuestionSets(project.dir, {
      sets: names,
      cases: options.case,
      tags: options.tag,
    });
    const baseline =
      options.baseline === undefined
        ? undefined
        : await readRun(project.dir, options.baseline, context.host.cwd);
    if (baseline !== undefined && options.failOnRegression === true) {
      const { requireSharedCases } = await import('../../../eval/report/compare-runs.ts');
      requireSharedCases(
        baseline,
        sets.flatMap(({ cases }) => cases.map(({ id }) => id)),
      );
    }
    const patterns = project.config.telemetry.redaction_patterns;
    const asked = await runEvals(project, {
      sets,
      agent: options.agent,
      repeat: options.repeat,
      withoutContext: options.withoutContext === true,
      allowSideEffects: options.allowSideEffects === true,
      concurrency: options.concurrency ?? project.config.llm.concurrency ?? 2,
      signal: context.signal,
      warn: (message) => context.printNote(message),
      onCase: (one, { done: count, of, context: isFull }) => {
        const { id, outcome } = one;
        context.printEvent({ type: 'case_ended', id, outcome, context: isFull, done: count, of });
        if (isFull) context.printNote(caseText(redactRun(one, patterns), context.screen));
        context.progress.update(
          `${count} of ${formatCount(of, 'case')}${isFull ? '' : ', without context'}`,
        );
      },
    });
    // Reports, the envelope and what is kept say the same: a comment on a pull request is read by more people than a file.
    const done = redactRun(withoutNearestRows(asked), patterns);
    const kept = await writeRun(project.dir, done).catch(unkept);
    if (options.save !== undefined && typeof kept === 'string')
      await saveRun(kept, options.save, context);
    const comparison =
      baseline &&
      (await import('../../../eval/report/compare-runs.ts')).compareRuns(baseline, done);
    const written = await writeReports(options, { run: done, comparison }, context);
    const [lost] = typeof kept === 'string' ? [] : [kept];
    return outcomeOf(
      { done, comparison, written, isGated: options.failOnRegression === true, lost },
      context,
    );
  },
});

interface Done {
  readonly done: EvalRun;
  readonly comparison: RunComparison | undefined;
  readonly written: readonly string[];
  /** Only what is worse than the baseline counts. */
  readonly isGated: boolean;
  /** Why the run could not be kept. */
  readonly lost: UserError | undefined;
}

/** What was paid for is told, whatever the disk says. */
function unkept(error: unknown): UserError {
  if (error instanceof UserError) return error;
  throw error;
}

async function outcomeOf(
  { done, comparison, written, isGated, lost }: Done,
  context: CommandContext,
): Promise<CommandResult> {
  const { columnsWithBaseline, summaryColumns } = await import('../../../eval/report/summary.ts');
  const figures = figuresText(columnsWithBaseline(comparison?.summaries[0], done), context.screen);
  const text = [
    figures,
    ...(comparison === undefined ? [] : ['', comparisonText(comparison, context.screen)]),
  ];
  const columns = summaryColumns(done).map(({ title, summary }) => ({ title, ...summary }));
  const first = done.cases.find(({ outcome }) => outcome !== 'pass' && outcome !== 'skipped');
  return {
    data: { run: done, columns, comparison },
    verbatim: true,
    text: text.join('\n'),
    notes: [...written, ...(lost === undefined ? [] : [`This run is not kept: ${lost.message}`])],
    next: [['ktx eval compare previous last', 'what changed since the run before']],
    failure: (await failureOf(done, isGated ? comparison : undefined, first?.id)) ?? lost,
  };
}

async function failureOf(
  done: EvalRun,
  gate: RunComparison | undefined,
  first = '',
): Promise<UserError | undefined> {
  const [{ evalExitCode }, { brokenCases }] = await Promise.all([
    import('../../../eval/run/outcome.ts'),
    import('../../../eval/report/compare-runs.ts'),
  ]);
  if (done.interrupted) {
    return new UserError('interrupted', 'Interrupted; what was asked is kept in .ktx/evals.', {
      exitCode: 130,
      retryable: true,
    });
  }
  if (gate !== undefined) {
    const worse = brokenCases(gate);
    const hint = worse.map(({ id }) => id).join(', ');
    return worse.length === 0
      ? undefined
      : new UserError(
          'eval_regressed',
          `${formatCount(worse.length, 'case')} passed before and not now.`,
          { hint },
        );
  }
  const exitCode = evalExitCode(done.cases.map(({ outcome }) => outcome));
  if (exitCode === 0) return undefined;
  const bad = done.cases.filter(
    ({ outcome }) => outcome !== 'pass' && outcome !== 'skipped',
  ).length;
  const hint = `ktx eval run --case ${first} asks one again`;
  return exitCode === 1
    ? new UserError('eval_failed', `${formatCount(bad, 'case')} did not pass.`, { hint })
    : new UserError('eval_undecided', `Of ${formatCount(bad, 'case')} nothing can be said.`, {
        hint,
        exitCode,
      });
}

async function saveRun(path: string, name: string, { host }: CommandContext): Promise<void> {
  const { readText, writeAtomically } = await import('../../../store/files.ts');
  await writeAtomically(resolve(host.cwd, name), (await readText(path)) ?? '');
}

function countOf(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= 100) return value;
  throw new InvalidArgumentError('must be a whole number from 1 to 100.');
}
