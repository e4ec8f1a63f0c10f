import type { Quarantined, UnusedFact } from '../../../ingest/report.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { RemovedSource } from '../../../project/learn/removed-sources.ts';
import type { ReviewQueue } from '../../../project/review/review-queue.ts';
import type { Screen } from '../../terminal/screen.ts';
import { escapeControls } from '../../terminal/text-width.ts';

/** The subject, and the kind if the subject does not begin with it. */
export function conflictTitle({ subject, kind }: { subject: string; kind: string }): string {
  return escapeControls(subject.startsWith(`${kind}:`) ? subject : `${subject} ${kind}`);
}

/** Sources that were removed from ktx.yaml but whose items still count. */
export function removedSourceLines(sources: readonly RemovedSource[]): readonly string[] {
  return sources.map(({ connection, items }) => {
    const counts = `its ${formatCount(items, 'item')} still ${items === 1 ? 'counts' : 'count'}`;
    return escapeControls(
      `${connection}: no longer in ktx.yaml, but ${counts}. To remove: ktx ingest --forget ${connection}`,
    );
  });
}

/** What waits on the host of the repository for a reviewer, or for the host. */
export function changeLines(changes: ReviewQueue['changes'], { style }: Screen): readonly string[] {
  return changes.map(({ kind, author, branch, url, problem }) => {
    const what = escapeControls(`${kind} of ${author}: ${url ?? branch}`);
    if (problem === undefined && url !== undefined)
      return `  ${style('yellow', 'proposed')}  ${what}`;
    const why = escapeControls(problem?.message ?? 'the server ended before it was sent');
    return `  ${style('yellow', 'not sent')}  ${what} (${why}): ktx mcp changes --send`;
  });
}

/** What is left out, what is stale, what is proposed, and what a model has not read yet. */
export function openWorkLines(
  {
    quarantined,
    stale,
    pending,
    changes,
  }: Pick<ReviewQueue, 'quarantined' | 'stale' | 'pending' | 'changes'>,
  screen: Screen,
): readonly string[] {
  const { style } = screen;
  const pendingLine = `  ${formatCount(pending.length, 'item')} with prose for a model to read`;
  return [
    ...changeLines(changes, screen),
    ...quarantined.map(
      (fact) => `  ${style('yellow', 'left out')}  ${escapeControls(quarantineText(fact))}`,
    ),
    ...stale.map(
      ({ subject, why }) =>
        `  ${style('yellow', 'stale')}     ${escapeControls(`${subject}: ${why}`)}`,
    ),
    ...(pending.length === 0 ? [] : [pendingLine]),
  ];
}

export function quarantineText({ subject, reason, location = subject }: Quarantined): string {
  return location.startsWith(subject)
    ? `${location}: ${reason}`
    : `${location}: ${subject}: ${reason}`;
}

const maxUnusedFacts = 12;

/** Facts in sources that ktx cannot use. They are not errors. */
export function unusedFactLines(facts: readonly UnusedFact[]): readonly string[] {
  const lines = facts
    .slice(0, maxUnusedFacts)
    .map(
      ({ item, location, reason }) =>
        `  ignored  ${escapeControls(`${item} ${location}: ${reason}`)}`,
    );
  const hidden = facts.length - lines.length;
  return hidden > 0 ? [...lines, `  … and ${hidden} more: ktx status --json`] : lines;
}
