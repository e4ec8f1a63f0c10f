import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { recordFailure, type ReadingStage, type ReadingStep } from './reading-stage.ts';
import { pendingPath, type PendingItem } from './work-units.ts';

/** After so many readings without a result, an item waits until its text changes. */
const mostAttempts = 3;
/** From the second attempt on, the next one comes no earlier than this. */
const waitMilliseconds = 3_600_000;

const attemptsSchema = z.object({ count: z.number(), at: z.number(), reason: z.string() });
type Attempts = z.infer<typeof attemptsSchema>;

const attemptsKey = ({ readingKey }: PendingItem): string => `attempts ${readingKey}`;

function readAttempts({ model }: ReadingStage, item: PendingItem): Attempts | undefined {
  return attemptsSchema.safeParse(model.journal.result(attemptsKey(item))).data;
}

/**
 * Notes that a model read the item and left nothing, with the reason; a person sees it in the
 * report. What the run could not do for another reason, like a network that is away, is no attempt.
 */
export function noteAttempt(
  stage: ReadingStage,
  step: ReadingStep,
  { item, reason }: { readonly item: PendingItem; readonly reason: string },
): void {
  const count = (readAttempts(stage, item)?.count ?? 0) + 1;
  try {
    stage.model.journal.keep(attemptsKey(item), { count, at: Date.now(), reason });
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
    const attempts = readAttempts(stage, item);
    const why = attempts && reasonToWait(attempts);
    if (attempts === undefined || why === undefined) return true;
    const reason = `${attempts.reason}; ${why}`;
    stage.refused.push({ subject: pendingPath(item), kind: 'reading', reason });
    return false;
  });
}

function reasonToWait({ count, at }: Attempts): string | undefined {
  if (count >= mostAttempts)
    return `set aside after ${count} attempts, until its text changes or with --re-extract`;
  const isEarly = count > 1 && Date.now() - at < waitMilliseconds;
  return isEarly ? `it is read again an hour after attempt ${count}` : undefined;
}
