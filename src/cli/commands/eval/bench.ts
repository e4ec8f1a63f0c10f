import { join, relative, resolve } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import type { BenchReport } from '../../../eval/bench/bench-report.ts';
import type { ConditionName } from '../../../eval/bench/conditions.ts';
import type { RetrievalResult } from '../../../eval/bench/retrieval/measure-retrieval.ts';
import type { BenchResult } from '../../../eval/bench/run-bench.ts';
import type { UnfinishedRun } from '../../../eval/run/attempt-log.ts';
import { UserError } from '../../../lib/error.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { Project } from '../../../project/open/open.ts';
import { readText, writeAtomically } from '../../../store/files.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';
import { parseBudget, parseCount, parseMinutes } from './run-limits.ts';

const conditions = ['schema', 'joins', 'semantic_layer', 'wiki', 'all'] as const;
const defaultConcurrency = 2;

export const benchCommand = defineCommand({
  description:
    'Asks the cases of question sets under five conditions: the schema alone, plus joins, plus the semantic layer, plus the wiki, and ' +
    'all. Writes one page (HTML, Markdown, JSON) with accuracy, refusals, tokens, dollars and seconds, and with the paired differences. ' +
    'With --gold it also measures without a model how many of the tables, columns, joins and values that questions need ktx finds; ' +
    '--no-model does only that. Exit code 3: not everything was asked.',
  examples: [
    ['ktx bench', 'all question sets, all conditions'],
    ['ktx bench revenue --condition schema --condition all --budget 5', 'two of the conditions'],
    ['ktx bench --no-model --gold retrieval.yaml', 'what search finds; costs nothing'],
  ],
  define: (command) =>
    command
      .argument('[sets...]', 'names of question sets (default: all)')
      .addOption(
        new Option('--condition <name...>', 'only these (default: all)').choices(conditions),
      )
      .option('--gold <file>', 'YAML with questions and the columns, joins and values they need')
      .option('--no-model', 'ask no model; needs --gold')
      .option('--case <id...>', 'only these cases')
      .option('--tag <tag...>', 'only cases with one of these tags')
      .option('--agent <name>', 'override the agent of the files')
      .option('--repeat <n>', 'ask each case this many times', parseCount)
      .option('--concurrency <n>', `cases at once (default: ${defaultConcurrency})`, parseCount)
      .option('--budget <usd>', 'stop before it costs more than this', parseBudget)
      .option('--max-minutes <n>', 'start no case after this time', parseMinutes)
      .option('--resume', 'continue the last benchmark that did not end; nothing is asked twice')
      .option('--out <folder>', 'where the page goes', 'ktx-bench'),
  async run({ args: [names], options }, context) {
    if (!options.model && options.gold === undefined)
      throw usageError('--no-model needs --gold.', 'ktx bench --no-model --gold retrieval.yaml');
    const project = await context.project({ budget: options.budget });
    const retrieval =
      options.gold === undefined ? undefined : await measure(project, options.gold, context);
    const asked = options.model ? await ask(project, { ...options, names }, context) : undefined;
    const bench = asked?.bench;
    const report = { started: new Date().toISOString(), bench, retrieval };
    const files = await writePage(report, { folder: options.out, dir: project.dir }, context);
    // Only now: what a full disk refused can still be had with --resume.
    if (bench !== undefined && !isIncomplete(bench)) await asked?.removeLog();
    return benchResult(report, files);
  },
});

async function measure(
  project: Project,
  file: string,
  { host, progress, signal }: CommandContext,
): Promise<RetrievalResult> {
  const [{ parseGoldSet }, { measureRetrieval }] = await Promise.all([
    import('../../../eval/bench/retrieval/gold-set.ts'),
    import('../../../eval/bench/retrieval/measure-retrieval.ts'),
  ]);
  const text = await readText(resolve(host.cwd, file));
  if (text === undefined)
    throw new UserError('file_not_found', `File not found: ${file}.`, {
      hint: 'give a path relative to the current folder',
      exitCode: 2,
    });
  const gold = await parseGoldSet(file, text);
  const total = gold.questions.length;
  const onQuestion = (done: number) => progress.update('asking the search', { done, total });
  return measureRetrieval(project, gold, { signal, onQuestion });
}

interface BenchFlags {
  readonly names: readonly string[];
  readonly condition?: readonly ConditionName[] | undefined;
  readonly case?: string[] | undefined;
  readonly tag?: string[] | undefined;
  readonly agent?: string | undefined;
  readonly repeat?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly maxMinutes?: number | undefined;
  readonly resume?: true | undefined;
}

function selectionOf(flags: BenchFlags): UnfinishedRun['header']['selection'] {
  return {
    sets: [...flags.names],
    cases: flags.case,
    tags: flags.tag,
    agent: flags.agent,
    repeat: flags.repeat,
    withoutContext: false,
    allowSideEffects: false,
    conditions: [...(flags.condition ?? conditions)],
  };
}

/** Asks under each condition. Every attempt is in a log until all of them are there. */
async function ask(
  project: Project,
  flags: BenchFlags,
  context: CommandContext,
): Promise<{ readonly bench: BenchResult; readonly removeLog: () => Promise<void> }> {
  const [{ runBench }, { loadQuestionSets }, log, { redactRun, withoutNearestRows }] =
    await Promise.all([
      import('../../../eval/bench/run-bench.ts'),
      import('../../../eval/cases/question-set.ts'),
      import('../../../eval/run/attempt-log.ts'),
      import('../../../eval/run/redact-run.ts'),
    ]);
  const resumed =
    flags.resume === true ? await log.readUnfinishedRun(project.dir, 'bench') : undefined;
  if (resumed !== undefined)
    context.printNote(
      `Continuing ${resumed.header.id}: ${formatCount(resumed.kept, 'attempt')} kept.`,
    );
  const selection = resumed?.header.selection ?? selectionOf(flags);
  const wanted = selection.conditions ?? [];
  const id = resumed?.header.id ?? project.runId;
  const started = resumed?.header.started ?? new Date().toISOString();
  const patterns = project.config.telemetry.redaction_patterns;
  let attempts: ReturnType<typeof log.openAttemptLog> | undefined;
  const { maxMinutes } = flags;
  const result = await runBench(project, {
    sets: await loadQuestionSets(project.dir, selection),
    id,
    conditions: conditions.filter((name) => wanted.includes(name)),
    agent: selection.agent,
    repeat: selection.repeat,
    concurrency: flags.concurrency ?? project.config.llm.concurrency ?? defaultConcurrency,
    mostMs: maxMinutes === undefined ? undefined : maxMinutes * 60_000,
    done: resumed?.done ?? (() => []),
    onStart(now) {
      if (resumed !== undefined) log.requireSameContext(resumed.header.context, now);
      const header = { version: 1 as const, id, started, selection, context: now };
      attempts = log.openAttemptLog(project.dir, { ...header, of: 'bench' }, (message) =>
        context.printNote(message),
      );
    },
    onAttempt: (finished) => attempts?.append(redactRun(withoutNearestRows(finished), patterns)),
    signal: context.signal,
    warn: (message) => context.printNote(message),
    onCase({ id: name, outcome }, { done, of, condition }) {
      context.printEvent({ type: 'case_ended', id: name, outcome, condition, done, of });
      context.progress.update(`${condition}: asking the cases`, { done, total: of });
    },
  });
  const shown = result.conditions.map((condition) => ({
    ...condition,
    cases: condition.cases.map((each) => redactRun(each, patterns)),
  }));
  return {
    bench: { ...result, conditions: shown },
    removeLog: async () => attempts?.remove(),
  };
}

/** True if it ended before everything was asked. */
function isIncomplete({ interrupted, conditions: results }: BenchResult): boolean {
  const reasons = results.flatMap(({ cases }) => cases.flatMap(({ reason }) => reason ?? []));
  return interrupted || reasons.some((reason) => reason.startsWith('not asked'));
}

async function writePage(
  report: BenchReport,
  { folder, dir }: { readonly folder: string; readonly dir: string },
  { host }: CommandContext,
): Promise<readonly string[]> {
  const { renderBenchHtml, renderBenchMarkdown } =
    await import('../../../eval/bench/bench-report.ts');
  const out = resolve(host.cwd, folder);
  // A clone may have a link of this name.
  const within = relative(dir, out).startsWith('..') ? undefined : dir;
  const texts = {
    'bench.html': renderBenchHtml(report),
    'bench.md': renderBenchMarkdown(report),
    'bench.json': `${JSON.stringify(report, undefined, 1)}\n`,
  };
  for (const [name, text] of Object.entries(texts))
    await writeAtomically(join(out, name), text, { within });
  return Object.keys(texts).map((name) => relative(host.cwd, join(out, name)) || name);
}

async function benchResult(report: BenchReport, files: readonly string[]): Promise<CommandResult> {
  const { reportSections } = await import('../../../eval/bench/bench-report.ts');
  const { renderBenchText } = await import('./bench-text.ts');
  return {
    data: { ...report, files },
    verbatim: true,
    text: renderBenchText(reportSections(report)),
    notes: files.map((file) => `wrote ${file}`),
    failure: benchFailure(report.bench),
  };
}

function benchFailure(bench: BenchResult | undefined): UserError | undefined {
  if (bench === undefined || !isIncomplete(bench)) return undefined;
  const hint = 'ktx bench --resume';
  return bench.interrupted
    ? new UserError('interrupted', 'Interrupted; the answers so far are kept.', {
        hint,
        exitCode: 130,
        retryable: true,
      })
    : new UserError('bench_incomplete', 'Not every case was asked.', { hint, exitCode: 3 });
}
