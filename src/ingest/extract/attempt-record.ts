import { z } from 'zod';
import type { IngestModel } from '../model.ts';

/** After so many calls without a result, an entry waits until something about it changes. */
export const mostAttempts = 3;
/** From the second attempt on, the next one comes no earlier than this. */
const waitMilliseconds = 3_600_000;

const attemptsSchema = z.object({ count: z.number(), at: z.number(), reason: z.string() });
/** How often a model was asked about an entry in vain, when last, and what came of it. */
export type AttemptRecord = Readonly<z.infer<typeof attemptsSchema>>;

/** The key of the attempts in the journal. */
export const attemptsKey = (key: string): string => `attempts ${key}`;

/** The attempts about the entry with this key, which changes with all that a model is shown. */
export function readAttempts(
  journal: IngestModel['journal'],
  key: string,
): AttemptRecord | undefined {
  return attemptsSchema.safeParse(journal.result(attemptsKey(key))).data;
}

/** Records one more attempt; how many there are now. Throws `UserError` if it cannot be kept. */
export function addAttempt(journal: IngestModel['journal'], key: string, reason: string): number {
  const count = (readAttempts(journal, key)?.count ?? 0) + 1;
  journal.keep(attemptsKey(key), { count, at: Date.now(), reason });
  return count;
}

/** Why a model is not asked again now; undefined if it may be. */
export function reasonToWait({ count, at }: AttemptRecord): 'set aside' | 'too early' | undefined {
  if (count >= mostAttempts) return 'set aside';
  return count > 1 && Date.now() - at < waitMilliseconds ? 'too early' : undefined;
}
