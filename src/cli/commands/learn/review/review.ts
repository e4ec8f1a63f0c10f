import type { Project } from '../../../../project/open/open.ts';
import type { ReviewedConflict } from '../../../../project/review/review.ts';
import type { ReviewQueue } from '../../../../project/review/review-queue.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../../command.ts';
import { commitFlag } from '../../../flags/commit-flag.ts';
import { promptUser } from '../../../terminal/prompt.ts';
import { escapeControls } from '../../../terminal/text-width.ts';
import { formatValue } from '../../../terminal/value-text.ts';
import { describeIngest } from '../ingest-report-text.ts';
import { changeLines, conflictTitle, quarantineText } from '../open-work-text.ts';
import { ingestFailure, runIngest } from '../run-ingest.ts';
import { choose, decideJoins, putOff, writeOwn } from './decide.ts';
import { asRequests } from './open-for-decision.ts';
import { joinText, listQueue, numberText } from './list.ts';

export const reviewCommand = defineCommand({
  description:
    'Shows each conflict between sources, with the versions, who says each, and for metrics the number that each gives; then each join ' +
    'in doubt and each metric that nobody has accepted yet. Your choice is saved in pins.yaml and committed. Then shows what was left out and what is stale. Without a terminal, it ' +
    'only lists them.',
  examples: [
    ['ktx review', 'resolve conflicts one by one'],
    ['ktx review --json', 'list them for a program'],
  ],
  define: (command) => command.option(...commitFlag),
  async run({ options: { commit } }, context) {
    const project = asRequests(await context.project(), commit);
    const { loadReviewQueue } = await import('../../../../project/review/review-queue.ts');
    const queue = await loadReviewQueue(project);
    const { contested, joins, unreviewed, corrections, quarantined, stale } = queue;
    const lists = [contested, joins, unreviewed, corrections, quarantined, stale];
    const count = lists.reduce((sum, list) => sum + list.length, 0);
    const { interactive, format } = context.screen;
    return interactive && format !== 'json' && count > 0
      ? reviewInteractively(project, queue, context)
      : listQueue(queue, context.screen);
  },
});

async function reviewInteractively(
  project: Project,
  queue: ReviewQueue,
  context: CommandContext,
): Promise<CommandResult> {
  const chosen = await reviewConflicts(project, queue.contested, context);
  const decided = [
    ...(await reviewJoins(project, queue.joins, context)),
    ...(await reviewMetrics(project, queue.unreviewed, context)),
    ...(await reviewCorrections(project, queue.corrections, context)),
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
  const asked = [queue.joins, queue.unreviewed, queue.corrections];
  const count = asked.reduce((sum, list) => sum + list.length, 0);
  const joinSummary =
    count === 0 ? '' : `, ${decided.length} of ${count} joins, metrics and corrections decided`;
  const summary = `${chosen.length} of ${queue.contested.length} resolved${joinSummary}`;
  return {
    data: { decided: results.map(({ data }) => data) },
    text: [
      ...results.map(({ text }) => text),
      summary,
      ...changeLines(queue.changes, context.screen),
    ].join('\n'),
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
    const ways = [
      { value: 'own', label: 'write your own' },
      { value: 'defer', label: 'put it off for 30 days', hint: 'for everybody' },
      { value: '', label: 'decide later' },
    ];
    const answer = await promptUser(context, ({ select }) =>
      select({ message, options: [...options, ...ways], signal: context.signal }),
    );
    const result = await decideConflict(project, { conflict, answer }, context);
    if (result !== undefined) results.push(result);
  }
  return results;
}

interface AnsweredConflict {
  readonly conflict: ReviewedConflict;
  /** The id of a version, `own`, `defer`, or nothing for later. */
  readonly answer: string;
}

async function decideConflict(
  project: Project,
  { conflict, answer }: AnsweredConflict,
  context: CommandContext,
): Promise<CommandResult | undefined> {
  const { subject, kind } = conflict;
  if (answer === '') return undefined;
  if (answer === 'defer')
    return putOff(project, { named: subject, kind, until: inThirtyDays() }, context);
  if (answer !== 'own') return choose(project, { ...conflict, choose: answer }, context);
  const message = escapeControls(`${conflictTitle(conflict)}: what holds?`);
  const text = await promptUser(context, ({ text: ask }) =>
    ask({ message, placeholder: 'words, or for a metric a formula like sum(amount)' }),
  );
  return text.trim() === ''
    ? undefined
    : writeOwn(project, { named: subject, kind, text }, context);
}

function inThirtyDays(): string {
  return new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
}

async function reviewCorrections(
  project: Project,
  corrections: ReviewQueue['corrections'],
  context: CommandContext,
): Promise<CommandResult[]> {
  const results: CommandResult[] = [];
  for (const { id, says, now, ...named } of corrections) {
    const held = now === undefined ? 'nothing' : formatValue(now);
    const message = escapeControls(
      `An agent proposes for ${conflictTitle(named)}: ${says} (now: ${held}). Is it right?`,
    );
    const options = [
      { value: 'accept', label: 'accept: it holds as if you had written it' },
      { value: 'reject', label: 'reject: remove it' },
      { value: '', label: 'decide later' },
    ];
    const answer = await promptUser(context, ({ select }) =>
      select({ message, options, initialValue: '', signal: context.signal }),
    );
    if (answer === '') continue;
    const decision = { joins: [id], isAccepted: answer === 'accept' };
    results.push(await decideJoins(project, decision, context));
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
    const decision = { joins: [doubt.id], isAccepted: answer === 'accept' };
    results.push(await decideJoins(project, decision, context));
  }
  return results;
}

async function reviewMetrics(
  project: Project,
  metrics: ReviewQueue['unreviewed'],
  context: CommandContext,
): Promise<CommandResult[]> {
  const results: CommandResult[] = [];
  // A row rule is written into the file of the dataset, not accepted.
  const asked = metrics.filter(({ kind }) => kind !== 'access');
  for (const { subject, id, says, quote, typed } of asked) {
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
        await decideJoins(project, { joins: [id], isAccepted: answer === 'accept' }, context),
      );
  }
  return results;
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

function readQuestion(definition: string, quote: string | undefined): string {
  return quote === undefined
    ? `Only names of columns suggest ${definition}. Is it right?`
    : `Only a model read ${definition} (from: ${quote}). Is it right?`;
}
