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

/** What is left out, what is stale, and what a model has not read yet. */
export function openWorkLines(
  { quarantined, stale, pending }: Pick<ReviewQueue, 'quarantined' | 'stale' | 'pending'>,
  { style }: Screen,
): readonly string[] {
  const pendingLine = `  ${formatCount(pending.length, 'item')} with prose for a model to read`;
  return [
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
