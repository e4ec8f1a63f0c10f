import { suggestedBackend } from '../../../llm/backends.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { UserError } from '../../../lib/error.ts';
import type { IngestEvent } from '../../../ingest/event.ts';
import type {
  FileReport,
  IngestReport,
  Quarantined,
  SourceReport,
  UnusedFact,
} from '../../../ingest/report.ts';
import type { UsageLine } from '../../../llm/governor/usage.ts';
import type { ingestProject } from '../../../project/learn/ingest.ts';
import type { ReviewQueue } from '../../../project/review/review-queue.ts';
import type { RemovedSource } from '../../../project/learn/removed-sources.ts';
import type { Project } from '../../../project/open/open.ts';
import { usage as misuse } from '../../terminal/failure.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { openIngestView } from './ingest-view.ts';
import { usageText } from '../../terminal/llm-lines.ts';
import type { Screen } from '../../terminal/output.ts';
import { printable } from '../../terminal/text-width.ts';

export const ingest = defineCommand({
  description:
    'Brings the project up to date with its warehouses and sources: reads what changed, writes datasets, wiki, claims and items, and ' +
    'commits them. What people edited stays. Unchanged input changes no file and makes no commit.',
  examples: [
    ['ktx ingest', 'every connection'],
    ['ktx ingest warehouse --dry-run', 'what would be read; writes nothing'],
    ['ktx ingest --no-llm', 'without the configured model, as where its key is not at hand'],
    [
      'ktx ingest --json',
      'one event a line as it happens; the last line is the envelope, with the report',
    ],
  ],
  define: (command) =>
    command
      .argument('[connections...]', 'all where they are left out')
      .option('--dry-run', 'plan only')
      .option('--no-llm', 'call no model; what one has written stays')
      .option(
        '--budget <usd>',
        'what calls to a model may cost in this run; what is done by then is kept',
        dollars,
      )
      .option('--re-extract', 'a model reads again what it has read; costs like the first time')
      .option(
        '--forget <source...>',
        'a source that ktx.yaml no longer has: what only it supported goes; alone, nothing else is read',
      )
      .option(
        '--allow-empty',
        'a source in which nothing is left is meant to be empty: what only it supported goes',
      ),
  async run({ args: [connections], options: { dryRun = false, ...options } }, context) {
    const project = await context.project();
    const report = await runIngest(project, { connections, dryRun, ...options }, context);
    const scanned = report.connections.some(
      ({ descriptions, judgements }) => (descriptions?.calls ?? 0) + (judgements?.calls ?? 0) > 0,
    );
    const called = scanned || report.stages.some(({ calls }) => calls > 0);
    const usage = called ? await usageOf(project) : [];
    const { listRemovedSources } = await import('../../../project/learn/removed-sources.ts');
    const former = await listRemovedSources(project);
    const isFaulty = report.quarantined.length + report.leftAlone.length > 0;
    const review = report.connections
      .filter(({ relationships }) => relationships.review > 0)
      .map(({ connection }) => connection);
    const next = [
      ...review.map((name) => `ktx scan ${name}  the joins to review, and why they are in doubt`),
      'ktx sl list  what there is now',
      'ktx sl query --help  ask for numbers',
      'ktx explain "<subject>"  where a fact comes from',
    ];
    return {
      data: { ...report, former, ...(called && { usage }) },
      text: describeIngest(report, context.screen).join('\n'),
      notes: [
        ...formerLines(former),
        ...(called ? [usageText(usage)] : []),
        ...timeText(report.milliseconds),
      ],
      exitCode: report.exitCode,
      failure: ingestFailure(report),
      next:
        report.exitCode === 0 && !dryRun
          ? [...pendingSteps(report, project), ...next]
          : isFaulty
            ? ['ktx sl validate  what is wrong, and where']
            : [],
    };
  },
});

/** Sources whose items count although nobody reads them any longer. */
export function formerLines(former: readonly RemovedSource[]): readonly string[] {
  return former.map(({ connection, items }) => {
    const counts = `${formatCount(items, 'item')} of it still ${items === 1 ? 'counts' : 'count'}`;
    return printable(
      `${connection}: no longer in ktx.yaml, and ${counts}; ktx ingest --forget ${connection}`,
    );
  });
}

/** Where the time went, of a run that took some. */
function timeText(milliseconds: IngestReport['milliseconds']): readonly string[] {
  const stages = Object.entries(milliseconds).sort(([, a], [, b]) => b - a);
  const all = stages.reduce((sum, [, ms]) => sum + ms, 0);
  const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const most = stages
    .filter(([, ms]) => ms >= 100)
    .slice(0, 4)
    .map(([stage, ms]) => `${stage} ${inSeconds(ms)}`);
  return all < 1000 ? [] : [`took ${inSeconds(all)}: ${most.join(', ')}`];
}

/** What would have the rest read. */
function pendingSteps({ sources }: IngestReport, { config }: Project): readonly string[] {
  const pending = sources.reduce((sum, source) => sum + source.pending.length, 0);
  if (pending === 0 || config.llm.provider.backend !== 'none') return [];
  return [
    `ktx setup --llm-backend ${suggestedBackend}  have ${formatCount(pending, 'item')} read by a model`,
  ];
}

function dollars(text: string): number {
  const amount = Number(text.replace(/^\$/, ''));
  if (Number.isFinite(amount) && amount > 0) return amount;
  throw misuse(`${text} is no amount of dollars.`, 'like --budget 2.00');
}

export async function usageOf(project: Project): Promise<readonly UsageLine[]> {
  const { usageReport } = await import('../../../llm/governor/usage.ts');
  return usageReport(project.journal().db, { run: project.runId });
}

/** Each event goes to `--json` as a line; a person sees what runs now. */
export async function runIngest(
  project: Project,
  asked: Pick<
    Parameters<typeof ingestProject>[1],
    'connections' | 'forget' | 'dryRun' | 'llm' | 'reExtract' | 'allowEmpty' | 'budget'
  >,
  context: CommandContext,
) {
  const [{ ingestProject }, { loopTools }] = await Promise.all([
    import('../../../project/learn/ingest.ts'),
    import('../../../tools/loop-tools.ts'),
  ]);
  const view = openIngestView();
  const onEvent = (event: IngestEvent) => {
    // The runner tells of a limit, whatever the command.
    if (event.type === 'rate_limited') return;
    context.event(event);
    if (event.type === 'lock_awaited') return context.say(event.message);
    const seen = view(event);
    if (seen !== undefined) context.progress.show(seen);
  };
  return ingestProject(project, {
    ...asked,
    tools: loopTools(project),
    signal: context.signal,
    onEvent,
  });
}

/** The first failure of a connection, else of what a model was asked for, with the exit code of the whole. */
export function ingestFailure({
  connections,
  sources,
  stages,
  exitCode,
}: IngestReport): UserError | undefined {
  const failure = [...connections, ...sources].find((each) => each.failure !== undefined)?.failure;
  if (failure !== undefined)
    return new UserError(failure.code, failure.message, { ...failure, exitCode });
  const work = connections.flatMap(({ descriptions, judgements }) => [
    { what: 'tables described', ...descriptions },
    { what: 'doubtful links judged', ...judgements },
  ]);
  const pending = work.find((each) => each.failure !== undefined);
  if (pending?.failure === undefined) return stageFailure(stages, exitCode);
  const message = `${pending.done} of ${pending.total} ${pending.what}: ${pending.failure.message}`;
  return new UserError(pending.failure.code, message, { ...pending.failure, exitCode });
}

function stageFailure(
  stages: IngestReport['stages'],
  exitCode: IngestReport['exitCode'],
): UserError | undefined {
  const stage = stages.find(({ failures }) => failures.length > 0);
  const [failure] = stage?.failures ?? [];
  if (stage === undefined || failure === undefined) return undefined;
  const message = `${stage.stage}: ${stage.done} done, ${stage.pending} pending: ${failure.message}`;
  return new UserError(failure.code, message, { ...failure, exitCode });
}

export function describeIngest(report: IngestReport, { style }: Screen): readonly string[] {
  const first = [...report.connections, ...report.sources].find(
    ({ failure }) => failure !== undefined,
  );
  const warehouses = report.connections.map((each) => {
    const {
      connection,
      failure,
      tables,
      profiled,
      reused,
      left,
      queries,
      relationships,
      descriptions,
    } = each;
    // The first one is told as the error.
    if (failure !== undefined)
      return `${connection}: ${style('red', each === first ? 'failed' : printable(failure.message))}`;
    if (report.dryRun) return `${connection}: ${formatCount(tables, 'table')} would be read`;
    const joins = `joins: ${relationships.accepted} accepted, ${relationships.review} to review`;
    const told =
      descriptions !== undefined && descriptions.done > 0
        ? `, ${descriptions.done} of ${descriptions.total} described`
        : '';
    return `${connection}: ${formatCount(tables, 'table')} (${profiled} profiled anew, ${reused} known${left > 0 ? `, ${left} left for the next run: the budget of the scan is spent` : ''})${told}, ${joins}, ${formatCount(queries, 'statement')} sent`;
  });
  const sources = report.sources.flatMap((each) => sourceLines(each, report.dryRun));
  const lines = [...warehouses, ...sources, ...report.stages.flatMap(stageLines)];
  if (report.dryRun) return [...lines, ...estimateLines(report.estimate)];
  const { files, keptEdits, newEdits, stale, leftAlone, setAside, quarantined, commit } = report;
  const known = keptEdits.length - newEdits.length;
  const kept = newEdits.map(
    ({ path, at, isRemoval }) =>
      `${path}, ${isRemoval ? 'taken out by a person' : 'as a person wrote it'} in ${at}`,
  );
  const marked: Readonly<Record<string, readonly string[]>> = {
    mended: report.mended.map(
      ({ subject, from, to }) => `${subject}: ${JSON.stringify(from)} as ${JSON.stringify(to)}`,
    ),
    contested: report.conflicts.map(
      ({ subject, kind, variants }) =>
        `${subject} ${kind}: ${variants.length} versions; ktx review`,
    ),
    stale: stale.map(({ path, at }) => `${path} in ${at}: gone from the warehouse`),
    left: leftAlone
      .filter(({ path }) => !quarantined.some(({ subject }) => subject === path))
      .map(({ path, reason }) => `${path}: ${reason}`),
    copied: setAside.map(({ path, copy }) => `${path}: an uncommitted text is kept in ${copy}`),
    out: quarantined.map(quarantineText),
    warning: commit.warning === undefined ? [] : [commit.warning],
  };
  return [
    ...lines,
    ...changes(files),
    ...unfitLines(report.unfit),
    ...[...kept, ...(known > 0 ? [`${formatCount(known, 'edit')} of before`] : [])].map(
      (text) => `  kept     ${printable(text)}`,
    ),
    ...Object.entries(marked).flatMap(([word, texts]) =>
      texts.map(
        (text) => `  ${style('yellow', word.padEnd(9).padEnd(word.length + 1))}${printable(text)}`,
      ),
    ),
    commit.id === undefined
      ? `no commit: ${commit.none ?? 'nothing to do'}`
      : `commit ${commit.id.slice(0, 10)}`,
  ];
}

const stageNames = {
  triage: 'pages looked over',
  light: 'pages skimmed',
  extract: 'prose read',
  curate: 'terms and rules placed',
  reconcile: 'disagreements weighed',
  repair: 'claims mended',
} as const;

/** What became of a stage that needs a model. */
function stageLines({
  stage,
  done,
  pending,
  calls,
  failures,
}: IngestReport['stages'][number]): readonly string[] {
  const waits = pending === 0 ? '' : `, ${pending} pending`;
  const why = [...new Set(failures.map(({ message }) => message))];
  return [
    `${stageNames[stage]}: ${done}${waits}; ${formatCount(calls, 'model call')}`,
    ...why.map((reason) => `  pending  ${printable(reason)}`),
  ];
}

/** Items by what became of them; those that are worth a name, by name. */
function sourceLines(
  { connection, failure, items, claims, total, pending }: SourceReport,
  dryRun: boolean,
): readonly string[] {
  const reads = pending.length === 0 ? '' : `, ${pending.length} with prose that waits for a model`;
  if (failure !== undefined) return [`${connection}: ${failure.message}`];
  if (items === undefined) return [];
  const { added, changed, gone, failed, unchanged, listing } = items;
  const counts = Object.entries({ added, changed, gone, failed }).flatMap(([word, some]) =>
    some.length === 0 ? [] : [`${some.length} ${word}`],
  );
  const cut = listing.complete
    ? []
    : [`  cut short: ${listing.reason ?? 'the listing did not end'}; nothing is taken for gone`];
  const becomes = [...counts, `${unchanged} unchanged`].join(', ');
  const last = dryRun ? '' : `; ${formatCount(claims, 'claim')}${reads}`;
  return [
    `${connection}: ${formatCount(total, 'item')} (${becomes})${last}`,
    ...cut,
    ...failed.map(({ key, reason }) => `  not read  ${printable(key)}: ${printable(reason)}`),
  ];
}

export function quarantineText({ subject, reason, location = subject }: Quarantined): string {
  return location.startsWith(subject)
    ? `${location}: ${reason}`
    : `${location}: ${subject}: ${reason}`;
}

/** What was left out, what is stale, and what a model has yet to read. */
export function waitingLines(
  { quarantined, stale, pending }: Omit<ReviewQueue, 'contested' | 'unfit'>,
  { style }: Screen,
): readonly string[] {
  return [
    ...quarantined.map(
      (one) => `  ${style('yellow', 'left out')}  ${printable(quarantineText(one))}`,
    ),
    ...stale.map(
      ({ subject, why }) => `  ${style('yellow', 'stale')}     ${printable(`${subject}: ${why}`)}`,
    ),
    ...(pending.length === 0
      ? []
      : [`  ${formatCount(pending.length, 'item')} with prose that waits for a model`]),
  ];
}

const shownUnfit = 12;

/** What sources say that has no place in ktx: no fault of the run. */
export function unfitLines(unfit: readonly UnusedFact[]): readonly string[] {
  const shown = unfit
    .slice(0, shownUnfit)
    .map(
      ({ item, location, reason }) => `  no place ${printable(`${item} ${location}: ${reason}`)}`,
    );
  const more =
    unfit.length > shownUnfit
      ? [`  … and ${unfit.length - shownUnfit} more: ktx status --json`]
      : [];
  return [...shown, ...more];
}

/** The files that people read, by name; what is generated beside them as a number. */
function changes(files: FileReport): readonly string[] {
  const all = (['added', 'changed', 'removed'] as const).flatMap((kind) =>
    files[kind].map((path) => ({ kind, path })),
  );
  const read = all.filter(
    ({ path }) => !/^(claims|sources)\//.test(path) && path !== '.gitattributes',
  );
  const shown = read.slice(0, 40).map(({ kind, path }) => `  ${kind.padEnd(9)}${path}`);
  const more = read.length > shown.length ? [`  … and ${read.length - shown.length} more`] : [];
  const others = all.length - read.length;
  return all.length === 0
    ? ['nothing changed']
    : [
        ...shown,
        ...more,
        ...(others === 0 ? [] : [`  and ${formatCount(others, 'file')} of claims and structure`]),
      ];
}

/** What a model would take. */
function estimateLines(estimate: IngestReport['estimate']): readonly string[] {
  if (estimate === undefined) return [];
  const { calls, input, output, costUsd } = estimate;
  if (calls[1] === 0) return ['the model: nothing to ask'];
  const range = ([least, most]: readonly [number, number], told: (value: number) => string) =>
    least === most ? told(least) : `${told(least)} to ${told(most)}`;
  const tokens = (value: number) =>
    value < 10_000 ? String(Math.round(value)) : `${Math.round(value / 1000)}k`;
  const money =
    costUsd === null
      ? 'what it costs is not known before a first run, or without llm.prices'
      : range(costUsd, (value) => `$${value.toFixed(value < 1 ? 3 : 2)}`);
  return [
    `the model: ${range(calls, String)} calls, ${range(input, tokens)} tokens in, ${range(output, tokens)} out; ${money}`,
  ];
}
