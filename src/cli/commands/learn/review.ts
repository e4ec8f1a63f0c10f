import { formatCount } from '../../../lib/format-count.ts';
import type { Project } from '../../../project/open/open.ts';
import type { createJoinPin } from '../../../project/review/joins.ts';
import type { ReviewedConflict } from '../../../project/review/review.ts';
import type { ReviewQueue } from '../../../project/review/review-queue.ts';
import {
  defineCommand,
  type CommandContext,
  type CommandResult,
  type NextStep,
} from '../../command.ts';
import { promptUser } from '../../terminal/prompt.ts';
import type { Screen } from '../../terminal/screen.ts';
import { escapeControls } from '../../terminal/text-width.ts';
import { formatValue } from '../../terminal/value-text.ts';
import { describeIngest } from './ingest-report-text.ts';
import { conflictTitle, openWorkLines, quarantineText } from './open-work-text.ts';
import { ingestFailure, runIngest } from './run-ingest.ts';

export const reviewCommand = defineCommand({
  description:
    'Shows each conflict between sources, with the versions, who says each, and for metrics the number that each gives; then each join ' +
    'in doubt and each metric that nobody has accepted yet. Your choice is saved in pins.yaml and committed. Then shows what was left out and what is stale. Without a terminal, it ' +
    'only lists them.',
  examples: [
    ['ktx review', 'resolve conflicts one by one'],
    ['ktx review --json', 'list them for a program'],
  ],
  define: (command) => command,
  async run(_input, context) {
    const project = await context.project();
    const { loadReviewQueue } = await import('../../../project/review/review-queue.ts');
    const queue = await loadReviewQueue(project);
    const { contested, joins, unreviewed, quarantined, stale } = queue;
    const lists = [contested, joins, unreviewed, quarantined, stale];
    const count = lists.reduce((sum, list) => sum + list.length, 0);
    const { interactive, format } = context.screen;
    return interactive && format !== 'json' && count > 0
      ? reviewInteractively(project, queue, context)
      : listQueue(queue, context.screen);
  },
});

export const listCommand = defineCommand({
  description:
    'Lists conflicts between sources: subject, versions with their ids, who says each, and for metrics the numbers. Then joins in doubt, ' +
    'what was left out, what is stale, and what a model has not read yet.',
  examples: [['ktx review list --json', 'list them for a program']],
  define: (command) => command,
  async run(_input, context) {
    const { loadReviewQueue } = await import('../../../project/review/review-queue.ts');
    return listQueue(await loadReviewQueue(await context.project()), context.screen);
  },
});

export const chooseCommand = defineCommand({
  description:
    'Resolves one conflict: saves your choice in pins.yaml, updates the files and commits.',
  examples: [
    [
      'ktx review choose metric:warehouse.orders.revenue ade0f976 --why "finance uses this one"',
      'the choice stands until a new definition appears',
    ],
  ],
  define: (command) =>
    command
      .argument('<subject>', 'subject as printed by ktx review list')
      .argument('<version>', 'id of the version, or the beginning of it')
      .option('--kind <kind>', 'which conflict, if the subject has several')
      .option('--why <words>', 'reason, stored with the choice'),
  async run({ args: [subject, version], options: { kind, why } }, context) {
    return choose(await context.project(), { subject, kind, choose: version, why }, context);
  },
});

const joinArgument = 'join or metric as printed by ktx review list, or its id';

export const acceptCommand = defineCommand({
  description:
    'Accepts a join in doubt, or a metric or time that is unreviewed: saves the decision in pins.yaml, updates the files and commits.',
  examples: [
    ['ktx review accept "warehouse.orders(customer_id)"', 'queries use the join from now on'],
  ],
  define: (command) =>
    command.argument('<join>', joinArgument).option('--why <words>', 'reason, stored with it'),
  run: async ({ args: [join], options: { why } }, context) =>
    decideJoin(await context.project(), { join, why, isAccepted: true }, context),
});

export const rejectCommand = defineCommand({
  description:
    'Rejects a join, in doubt or in use, or a metric or time that is unreviewed: saves the decision in pins.yaml and commits.',
  examples: [
    [
      'ktx review reject "warehouse.orders(status_id)" --why "a code, no key"',
      'ktx does not propose it again',
    ],
  ],
  define: (command) =>
    command.argument('<join>', joinArgument).option('--why <words>', 'reason, stored with it'),
  run: async ({ args: [join], options: { why } }, context) =>
    decideJoin(await context.project(), { join, why, isAccepted: false }, context),
});

async function decideJoin(
  project: Project,
  decision: Parameters<typeof createJoinPin>[1],
  context: CommandContext,
): Promise<CommandResult> {
  const { findUnreviewed, createReviewPin } = await import('../../../project/review/unreviewed.ts');
  const metric = await findUnreviewed(project, decision.join);
  const joins = await import('../../../project/review/joins.ts');
  const pin =
    metric === undefined
      ? await joins.createJoinPin(project, decision)
      : await createReviewPin(project, metric, decision);
  return publishPin(project, { pin, says: decision.isAccepted ? 'accepted' : 'rejected' }, context);
}

type ChosenVersion = Parameters<typeof import('../../../project/review/review.ts').createPin>[1];

async function choose(
  project: Project,
  choice: ChosenVersion,
  context: CommandContext,
): Promise<CommandResult> {
  const { createPin } = await import('../../../project/review/review.ts');
  const pin = await createPin(project, choice);
  return publishPin(project, { pin, says: `chose ${pin.choose}` }, context);
}

interface MadeDecision {
  readonly pin: Awaited<ReturnType<typeof createJoinPin>>;
  /** In words, for the person. */
  readonly says: string;
}

/** Writes the decision, brings the files up to date and commits. */
async function publishPin(
  project: Project,
  { pin, says }: MadeDecision,
  { signal, screen }: CommandContext,
): Promise<CommandResult> {
  const { ingestProject } = await import('../../../project/learn/ingest.ts');
  const report = await ingestProject(project, { connections: [], pin, signal });
  const failure = ingestFailure(report);
  // Facts that were left out before, for other reasons, do not make the choice partial.
  const isDone =
    failure === undefined && report.commit.id !== undefined && report.leftAlone.length === 0;
  const leftOut = formatCount(report.quarantined.length, 'fact');
  const notes = report.quarantined.length > 0 ? [`${leftOut} still left out: ktx review list`] : [];
  return {
    data: { pin, report },
    text: [`${pin.subject}: ${says}`, ...describeIngest(report, screen)].join('\n'),
    notes,
    exitCode: isDone ? 0 : report.exitCode,
    failure,
  };
}

async function reviewInteractively(
  project: Project,
  queue: ReviewQueue,
  context: CommandContext,
): Promise<CommandResult> {
  const chosen = await reviewConflicts(project, queue.contested, context);
  const decided = [
    ...(await reviewJoins(project, queue.joins, context)),
    ...(await reviewMetrics(project, queue.unreviewed, context)),
  ];
  for (const fact of queue.quarantined) {
    const message = escapeControls(
      `Left out: ${quarantineText(fact)}. Correct it there, then run ktx ingest.`,
    );
    await promptUser(context, ({ select }) =>
      select({ message, options: [{ value: '', label: 'continue' }], signal: context.signal }),
    );
  }
  const reread =
    queue.stale.length === 0 ? undefined : await offerReread(project, queue.stale, context);
  const results = [...chosen, ...decided, ...(reread === undefined ? [] : [reread])];
  const joinSummary =
    queue.joins.length + queue.unreviewed.length === 0
      ? ''
      : `, ${decided.length} of ${queue.joins.length + queue.unreviewed.length} joins and metrics decided`;
  const summary = `${chosen.length} of ${queue.contested.length} resolved${joinSummary}`;
  return {
    data: { decided: results.map(({ data }) => data) },
    text: [...results.map(({ text }) => text), summary].join('\n'),
    failure: results.find(({ failure }) => failure !== undefined)?.failure,
  };
}

async function reviewConflicts(
  project: Project,
  conflicts: readonly ReviewedConflict[],
  context: CommandContext,
): Promise<CommandResult[]> {
  const results: CommandResult[] = [];
  for (const conflict of conflicts) {
    const options = conflict.variants.map(({ id, says, number, evidence }) => ({
      value: id,
      label: escapeControls(`${formatValue(says)}${numberText(number)}`),
      hint: escapeControls(evidence.join('; ')),
    }));
    const difference = conflict.difference === undefined ? '' : ` (${conflict.difference})`;
    const message = escapeControls(
      `${conflictTitle(conflict)}${difference}: which version is right?`,
    );
    const later = { value: '', label: 'decide later' };
    const answer = await promptUser(context, ({ select }) =>
      select({ message, options: [...options, later], signal: context.signal }),
    );
    if (answer !== '')
      results.push(await choose(project, { ...conflict, choose: answer }, context));
  }
  return results;
}

async function reviewJoins(
  project: Project,
  joins: ReviewQueue['joins'],
  context: CommandContext,
): Promise<CommandResult[]> {
  const results: CommandResult[] = [];
  for (const doubt of joins) {
    const message = escapeControls(`Join ${joinText(doubt)} (${doubt.why}): is it right?`);
    const options = [
      { value: 'accept', label: 'accept: queries may use it' },
      { value: 'reject', label: 'reject: never propose it again' },
      { value: '', label: 'decide later' },
    ];
    const answer = await promptUser(context, ({ select }) =>
      select({ message, options, initialValue: '', signal: context.signal }),
    );
    if (answer === '') continue;
    const decision = { join: doubt.id, isAccepted: answer === 'accept' };
    results.push(await decideJoin(project, decision, context));
  }
  return results;
}

async function reviewMetrics(
  project: Project,
  metrics: ReviewQueue['unreviewed'],
  context: CommandContext,
): Promise<CommandResult[]> {
  const results: CommandResult[] = [];
  for (const { subject, id, says, quote, typed } of metrics) {
    const definition = `${subject}: ${JSON.stringify(says)}`;
    const message = escapeControls(
      typed === undefined
        ? readQuestion(definition, quote)
        : `Nobody has defined ${definition}, ${typed}. Add it?`,
    );
    const options = [
      { value: 'accept', label: 'accept: it counts like the others' },
      { value: 'reject', label: 'reject: remove it' },
      { value: '', label: 'decide later' },
    ];
    const answer = await promptUser(context, ({ select }) =>
      select({ message, options, initialValue: '', signal: context.signal }),
    );
    if (answer !== '')
      results.push(
        await decideJoin(project, { join: id, isAccepted: answer === 'accept' }, context),
      );
  }
  return results;
}

/** `orders.customer_id = customers.id` */
function joinText({ subject, to, on }: ReviewQueue['joins'][number]): string {
  const owner = subject.slice(subject.indexOf('.') + 1, subject.lastIndexOf('('));
  return Object.entries(on)
    .map(([own, other]) => `${owner}.${own} = ${to}.${other}`)
    .join(' and ');
}

/**
 * Offers to read stale facts again, which runs a whole ingest. Without a model, names the command
 * that sets one up.
 */
async function offerReread(
  project: Project,
  stale: ReviewQueue['stale'],
  context: CommandContext,
): Promise<CommandResult | undefined> {
  const lines = stale.map(({ subject, why }) => escapeControls(`  ${subject}: ${why}`));
  const hasModel = project.config.llm.provider.backend !== 'none';
  const now = { value: 'now', label: 'read again now' };
  const later = {
    value: '',
    label: hasModel ? 'later' : 'later; needs a model: ktx setup --llm-backend <name>',
  };
  const message = `Stale:\n${lines.join('\n')}`;
  const options = hasModel ? [now, later] : [later];
  const answer = await promptUser(context, ({ select }) =>
    select({ message, options, signal: context.signal }),
  );
  if (answer === '') return undefined;
  const report = await runIngest(project, { connections: [], dryRun: false }, context);
  return {
    data: { report },
    text: describeIngest(report, context.screen).join('\n'),
    failure: ingestFailure(report),
  };
}

function listQueue(queue: ReviewQueue, screen: Screen): CommandResult {
  const { contested: conflicts, joins, unreviewed, quarantined, stale, pending } = queue;
  const lines = conflicts.flatMap((conflict) => conflictLines(conflict, screen));
  const [first] = conflicts;
  const [doubt] = joins;
  const [metric] = unreviewed;
  const next: NextStep[] = [];
  if (first) next.push([`ktx review choose ${first.subject} <version>`, 'resolves it']);
  if (doubt) next.push([`ktx review accept ${doubt.id}`, 'uses the join; reject drops it']);
  if (metric) next.push([`ktx review accept ${metric.id}`, 'accepts it; reject drops it']);
  return {
    data: { conflicts, joins, unreviewed, left_out: quarantined, stale, pending },
    verbatim: true,
    text: [
      ...(lines.length === 0 ? ['No conflicts.'] : lines),
      ...joinLines(joins, screen),
      ...unreviewedLines(unreviewed, screen),
      ...openWorkLines(queue, screen),
    ].join('\n'),
    next,
  };
}

function unreviewedLines(metrics: ReviewQueue['unreviewed'], { style }: Screen): readonly string[] {
  const shown = metrics
    .slice(0, mostLines)
    .flatMap(({ id, subject, says, quote, item = '', typed }) => [
      `  ${id}  ${style('yellow', typed === undefined ? 'unreviewed' : 'proposed')}  ${escapeControls(`${subject}: ${JSON.stringify(says)}`)}`,
      style(
        'dim',
        `      ${escapeControls(typed ?? (quote === undefined ? namesOnly : `${item}: ${quote}`))}`,
      ),
    ]);
  const rest = metrics.length - mostLines;
  return rest > 0 ? [...shown, `  … and ${rest} more: ktx review list --json`] : shown;
}

function readQuestion(definition: string, quote: string | undefined): string {
  return quote === undefined
    ? `Only names of columns suggest ${definition}. Is it right?`
    : `Only a model read ${definition} (from: ${quote}). Is it right?`;
}

const mostLines = 20;
const namesOnly = 'only names of columns suggest it';

function joinLines(joins: ReviewQueue['joins'], { style }: Screen): readonly string[] {
  const shown = joins
    .slice(0, mostLines)
    .flatMap((doubt) => [
      `  ${doubt.id}  ${style('yellow', 'join in doubt')}  ${escapeControls(joinText(doubt))}`,
      style('dim', `      ${escapeControls(doubt.why)}`),
    ]);
  const rest = joins.length - mostLines;
  return rest > 0 ? [...shown, `  … and ${rest} more: ktx review list --json`] : shown;
}

function conflictLines(
  { subject, kind, variants, difference }: ReviewedConflict,
  { style }: Screen,
): readonly string[] {
  const variantLines = variants.flatMap(({ id, says, evidence, number }, index) => {
    const shown = index === 0 ? style('dim', '  (shown)') : '';
    return [
      `  ${id}  ${escapeControls(formatValue(says))}${numberText(number)}${shown}`,
      ...evidence.map((line) => style('dim', `      ${escapeControls(line)}`)),
    ];
  });
  return [
    style('bold', conflictTitle({ subject, kind })),
    ...(difference === undefined ? [] : [`  ${escapeControls(difference)}`]),
    ...variantLines,
  ];
}

/** What a version of a metric gives: ` = 1,234`, or why it cannot be run. */
function numberText(number: ReviewedConflict['variants'][number]['number']): string {
  if (number === undefined) return '';
  if (number.failure !== undefined) return ` (cannot be run: ${number.failure})`;
  const parameters = Object.entries(number.with ?? {}).map(
    ([name, value]) => `${name} = ${formatValue(value)}`,
  );
  const withText = parameters.length === 0 ? '' : ` (with ${parameters.join(', ')})`;
  return ` = ${formatValue(number.value)}${withText}`;
}
