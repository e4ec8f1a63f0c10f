import { CORE_SCHEMA, dump } from 'js-yaml';
import { formatCount } from '../../../lib/format-count.ts';
import type { ReviewQueue } from '../../../project/review/review-queue.ts';
import type { Project } from '../../../project/open/open.ts';
import type { ReviewedConflict } from '../../../project/review/review.ts';
import { defineCommand, type CommandContext, type Outcome } from '../../command.ts';
import {
  describeIngest,
  ingestFailure,
  quarantineText,
  runIngest,
  waitingLines,
} from './ingest.ts';
import type { Screen } from '../../terminal/output.ts';
import { answer } from '../../terminal/prompt.ts';
import { printable } from '../../terminal/text-width.ts';

export const review = defineCommand({
  description:
    'Walks through what sources say differently: each version with who says it and, for metrics, what it gives; what you choose ' +
    'goes into pins.yaml and is committed. Then through what was left out, and what is stale. Without a terminal it lists.',
  examples: [
    ['ktx review', 'decide one after the other'],
    ['ktx review --json', 'what is contested, for a program'],
  ],
  define: (command) => command,
  async run(_input, context) {
    const project = await context.project();
    const { loadReviewQueue } = await import('../../../project/review/review-queue.ts');
    const found = await loadReviewQueue(project);
    const waits = found.contested.length + found.quarantined.length + found.stale.length;
    if (!context.screen.interactive || context.screen.format === 'json' || waits === 0)
      return listed(found, context.screen);
    return walk(project, found, context);
  },
});

export const list = defineCommand({
  description:
    'What is contested: subject, versions with their ids, who says so, and the numbers of contested metrics; what was left out, ' +
    'what is stale, and what a model has yet to read.',
  examples: [['ktx review list --json', 'for a program']],
  define: (command) => command,
  async run(_input, context) {
    const { loadReviewQueue } = await import('../../../project/review/review-queue.ts');
    return listed(await loadReviewQueue(await context.project()), context.screen);
  },
});

export const choose = defineCommand({
  description: 'Decides one conflict: writes the pin, brings the files up to date, commits.',
  examples: [
    [
      'ktx review choose metric:warehouse.orders.revenue ade0f976 --why "as finance has it"',
      'that version holds until something new is said',
    ],
  ],
  define: (command) =>
    command
      .argument('<subject>', 'as ktx review list prints it')
      .argument('<version>', 'id of the version, or its beginning')
      .option('--kind <kind>', 'what about it, where several things are contested')
      .option('--why <words>', 'kept with the decision'),
  async run({ args: [subject, version], options: { kind, why } }, context) {
    return decide(await context.project(), { subject, kind, choose: version, why }, context);
  },
});

interface Choice {
  readonly subject: string;
  readonly kind?: string | undefined;
  readonly choose: string;
  readonly why?: string | undefined;
}

async function decide(
  project: Project,
  choice: Choice,
  { signal, screen }: CommandContext,
): Promise<Outcome> {
  const [{ createPin }, { ingestProject }] = await Promise.all([
    import('../../../project/review/review.ts'),
    import('../../../project/learn/ingest.ts'),
  ]);
  const pin = await createPin(project, choice);
  const report = await ingestProject(project, { connections: [], pin, signal });
  const text = [`${pin.subject}: ${pin.choose} holds`, ...describeIngest(report, screen)].join(
    '\n',
  );
  const failure = ingestFailure(report);
  // What was left out before, for reasons of its own, makes no decision partial.
  const isDecided =
    failure === undefined && report.commit.id !== undefined && report.leftAlone.length === 0;
  const others = `${formatCount(report.quarantined.length, 'thing')} left out, which this does not decide: ktx review list`;
  const notes = report.quarantined.length > 0 ? [others] : [];
  return { data: { pin, report }, text, notes, exitCode: isDecided ? 0 : report.exitCode, failure };
}

async function walk(
  project: Project,
  found: ReviewQueue,
  context: CommandContext,
): Promise<Outcome> {
  const decided = await walkConflicts(project, found.contested, context);
  for (const one of found.quarantined) {
    const message = printable(
      `Left out: ${quarantineText(one)}. Correct it there, then ktx ingest.`,
    );
    await answer(context, ({ select }) =>
      select({ message, options: [{ value: '', label: 'go on' }], signal: context.signal }),
    );
  }
  const read =
    found.stale.length === 0 ? undefined : await readAgain(project, found.stale, context);
  const all = [...decided, ...(read === undefined ? [] : [read])];
  const text = [
    ...all.map((one) => one.text),
    `${decided.length} of ${found.contested.length} decided`,
  ].join('\n');
  return {
    data: { decided: all.map(({ data }) => data) },
    text,
    failure: all.find((one) => one.failure !== undefined)?.failure,
  };
}

/** What is stale is read again as a whole; without a model the fix is told. */
async function readAgain(
  project: Project,
  stale: ReviewQueue['stale'],
  context: CommandContext,
): Promise<Outcome | undefined> {
  const stands = stale.map(({ subject, why }) => printable(`  ${subject}: ${why}`)).join('\n');
  const hasModel = project.config.llm.provider.backend !== 'none';
  const again = { value: 'again', label: 'read again now' };
  const later = {
    value: '',
    label: hasModel ? 'later' : 'later; it takes a model: ktx setup --llm-backend <name>',
  };
  const message = `Stale:\n${stands}`;
  const options = hasModel ? [again, later] : [later];
  const chosen = await answer(context, ({ select }) =>
    select({ message, options, signal: context.signal }),
  );
  if (chosen === '') return undefined;
  const report = await runIngest(project, { connections: [], dryRun: false }, context);
  return {
    data: { report },
    text: describeIngest(report, context.screen).join('\n'),
    failure: ingestFailure(report),
  };
}

async function walkConflicts(
  project: Project,
  conflicts: readonly ReviewedConflict[],
  context: CommandContext,
): Promise<Outcome[]> {
  const decided: Outcome[] = [];
  for (const conflict of conflicts) {
    const later = { value: '', label: 'decide later' };
    const options = conflict.variants.map(({ id, says, number, evidence }) => {
      return {
        value: id,
        label: printable(`${said(says)}${numberText(number)}`),
        hint: printable(evidence.join('; ')),
      };
    });
    const difference = conflict.difference === undefined ? '' : ` (${conflict.difference})`;
    const message = printable(`${conflict.subject} ${conflict.kind}${difference}: which holds?`);
    const chosen = await answer(context, ({ select }) =>
      select({ message, options: [...options, later], signal: context.signal }),
    );
    if (chosen !== '')
      decided.push(await decide(project, { ...conflict, choose: chosen }, context));
  }
  return decided;
}

function listed({ contested: conflicts, ...others }: ReviewQueue, screen: Screen): Outcome {
  const { style } = screen;
  const lines = conflicts.flatMap(({ subject, kind, variants, difference }) => [
    style('bold', printable(`${subject} ${kind}`)),
    ...(difference === undefined ? [] : [`  ${printable(difference)}`]),
    ...variants.flatMap(({ id, says, evidence, number }, index) => [
      `  ${id}  ${printable(said(says))}${numberText(number)}${index === 0 ? style('dim', '  (shown)') : ''}`,
      ...evidence.map((one) => style('dim', `      ${printable(one)}`)),
    ]),
  ]);
  const [first] = conflicts;
  const next = first ? [`ktx review choose ${first.subject} <version>  decide`] : [];
  const { quarantined, stale, pending } = others;
  const data = { conflicts, left_out: quarantined, stale, pending };
  const text = [
    ...(lines.length === 0 ? ['Nothing is contested.'] : lines),
    ...waitingLines(others, screen),
  ].join('\n');
  return { data, verbatim: true, text, next };
}

function numberText(number: ReviewedConflict['variants'][number]['number']): string {
  if (number === undefined) return '';
  if (number.failure !== undefined) return ` (does not run: ${number.failure})`;
  const chosen = Object.entries(number.with ?? {}).map(
    ([name, value]) => `${name} = ${said(value)}`,
  );
  return ` = ${said(number.value)}${chosen.length === 0 ? '' : ` (with ${chosen.join(', ')})`}`;
}

function said(value: unknown): string {
  return typeof value === 'string'
    ? value
    : dump(value, { schema: CORE_SCHEMA, flowLevel: 0, lineWidth: -1 }).trim();
}
