import { UserError } from '../../lib/error.ts';
import {
  addAttempt,
  type AttemptRecord,
  mostAttempts,
  readAttempts,
  reasonToWait,
} from './attempt-record.ts';
import { recordFailure, type ReadingStage, type ReadingStep } from './reading-stage.ts';
import { pendingPath, type PendingItem } from './work-units.ts';

/**
 * Notes that a model read the item and left nothing, with the reason; a person sees it in the
 * report. What the run could not do for another reason, like a network that is away, is no attempt.
 */
export function noteAttempt(
  stage: ReadingStage,
  step: ReadingStep,
  { item, reason }: { readonly item: PendingItem; readonly reason: string },
): void {
  const { journal } = stage.model;
  let count = (readAttempts(journal, item.readingKey)?.count ?? 0) + 1;
  try {
    count = addAttempt(journal, item.readingKey, reason);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    recordFailure(stage, { step }, error);
  }
  stage.refused.push({
    subject: pendingPath(item),
    kind: 'reading',
    reason: `${reason} (attempt ${count} of ${mostAttempts})`,
  });
}

/** The items to read now. The others are named in the report, with the reason. */
export function withoutSetAside(
  stage: ReadingStage,
  items: readonly PendingItem[],
): readonly PendingItem[] {
  if (stage.isAnew) return items;
  return items.filter((item) => {
    const attempts = readAttempts(stage.model.journal, item.readingKey);
    const why = attempts && whyItWaits(attempts);
    if (attempts === undefined || why === undefined) return true;
    const reason = `${attempts.reason}; ${why}`;
    stage.refused.push({ subject: pendingPath(item), kind: 'reading', reason });
    return false;
  });
}

function whyItWaits(attempts: AttemptRecord): string | undefined {
  const { count } = attempts;
  const texts = {
    'set aside': `set aside after ${count} attempts, until its text changes or with --re-extract`,
    'too early': `it is read again an hour after attempt ${count}`,
  };
  const reason = reasonToWait(attempts);
  return reason && texts[reason];
}
