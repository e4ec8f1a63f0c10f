import type { ReviewedConflict } from '../../../../project/review/review.ts';
import type { ReviewQueue } from '../../../../project/review/review-queue.ts';
import { defineCommand, type CommandResult, type NextStep } from '../../../command.ts';
import { visibleFlag } from '../../../flags/visible-flag.ts';
import type { Screen } from '../../../terminal/screen.ts';
import { escapeControls } from '../../../terminal/text-width.ts';
import { formatValue } from '../../../terminal/value-text.ts';
import { conflictTitle, openWorkLines } from '../open-work-text.ts';

export const listCommand = defineCommand({
  description:
    'Lists conflicts between sources: subject, versions with their ids, who says each, and for metrics the numbers. Then joins in doubt, ' +
    'what was left out, what is stale, and what a model has not read yet.',
  examples: [['ktx review list --json', 'list them for a program']],
  define: (command) => command.option(...visibleFlag),
  async run({ options }, context) {
    const project = await context.project();
    const load =
      options.visible === true
        ? (await import('../../../../project/visible/review-visible.ts')).loadVisibleQueue
        : (await import('../../../../project/review/review-queue.ts')).loadReviewQueue;
    return listQueue(await load(project), context.screen);
  },
});

export function listQueue(queue: ReviewQueue, screen: Screen): CommandResult {
  const { contested: conflicts, joins, unreviewed, quarantined, stale, pending, deferred } = queue;
  const { corrections, changes, unknown } = queue;
  const lines = conflicts.flatMap((conflict) => conflictLines(conflict, screen));
  const [first] = conflicts;
  const [doubt] = joins;
  const [metric] = unreviewed;
  const next: NextStep[] = [];
  if (first) next.push([`ktx review choose ${first.subject} <version>`, 'resolves it']);
  if (doubt) next.push([`ktx review accept ${doubt.id}`, 'uses the join; reject drops it']);
  if (metric) next.push([`ktx review accept ${metric.id}`, 'accepts it; reject drops it']);
  const [correction] = corrections;
  if (correction)
    next.push([`ktx review accept ${correction.id}`, 'takes the words; reject drops them']);
  return {
    data: {
      conflicts,
      ...(unknown !== undefined && { unknown }),
      joins,
      unreviewed,
      corrections,
      left_out: quarantined,
      stale,
      pending,
      deferred,
      changes,
    },
    verbatim: true,
    text: [
      ...(lines.length === 0 ? [escapeControls(unknown ?? noConflicts(deferred))] : lines),
      ...joinLines(joins, screen),
      ...unreviewedLines(unreviewed, screen),
      ...correctionLines(corrections, screen),
      ...openWorkLines(queue, screen),
      ...deferredLines(deferred, screen),
    ].join('\n'),
    next,
  };
}

function unreviewedLines(metrics: ReviewQueue['unreviewed'], { style }: Screen): readonly string[] {
  const shown = metrics
    .slice(0, mostLines)
    .flatMap(({ id, subject, kind, says, quote, item = '', typed }) => [
      `  ${id}  ${style('yellow', unreviewedMark({ kind, typed }))}  ${escapeControls(`${subject}: ${JSON.stringify(says)}`)}`,
      style(
        'dim',
        `      ${escapeControls(typed ?? (quote === undefined ? namesOnly : `${item}: ${quote}`))}`,
      ),
    ]);
  const rest = metrics.length - mostLines;
  return rest > 0 ? [...shown, `  … and ${rest} more: ktx review list --json`] : shown;
}

function unreviewedMark({
  kind,
  typed,
}: Pick<ReviewQueue['unreviewed'][number], 'kind' | 'typed'>): string {
  if (kind === 'access') return 'row rule';
  return typed === undefined ? 'unreviewed' : 'proposed';
}

/** What agents propose, above what holds now. */
function correctionLines(
  corrections: ReviewQueue['corrections'],
  { style }: Screen,
): readonly string[] {
  return corrections.flatMap(({ id, subject, kind, says, now }) => [
    `  ${id}  ${style('yellow', 'correction')}  ${conflictTitle({ subject, kind })}: ${escapeControls(says)}`,
    style('dim', `      now: ${escapeControls(now === undefined ? 'nothing' : formatValue(now))}`),
  ]);
}

/** `orders.customer_id = customers.id` */
export function joinText({ subject, to, on }: ReviewQueue['joins'][number]): string {
  const owner = subject.slice(subject.indexOf('.') + 1, subject.lastIndexOf('('));
  return Object.entries(on)
    .map(([own, other]) => `${owner}.${own} = ${to}.${other}`)
    .join(' and ');
}

function noConflicts(deferred: ReviewQueue['deferred']): string {
  return deferred.length === 0 ? 'No conflicts.' : 'No conflicts but what is put off.';
}

function deferredLines(deferred: ReviewQueue['deferred'], { style }: Screen): readonly string[] {
  return deferred.map(({ subject, kind, until, why, by }) => {
    const details = [
      until === undefined ? undefined : `until ${until}`,
      by === undefined ? undefined : `by ${by}`,
      why,
    ].filter((detail) => detail !== undefined);
    const rest = details.length === 0 ? '' : `: ${details.join(', ')}`;
    return style('dim', escapeControls(`put off: ${subject} (${kind})${rest}`));
  });
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
export function numberText(number: ReviewedConflict['variants'][number]['number']): string {
  if (number === undefined) return '';
  if (number.failure !== undefined) return ` (cannot be run: ${number.failure})`;
  const parameters = Object.entries(number.with ?? {}).map(
    ([name, value]) => `${name} = ${formatValue(value)}`,
  );
  const withText = parameters.length === 0 ? '' : ` (with ${parameters.join(', ')})`;
  return ` = ${formatValue(number.value)}${withText}`;
}
