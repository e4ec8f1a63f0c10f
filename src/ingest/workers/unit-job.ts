import { z } from 'zod';
import type { Claim } from '../../context/claims/claim.ts';
import type { Catalog } from '../../context/catalog/catalog.ts';
import { attemptsKey } from '../extract/attempt-record.ts';
import { brokenKey, type ReadingStep } from '../extract/reading-stage.ts';
import { triageKey } from '../extract/triage-page.ts';
import type { PendingItem, WorkUnit } from '../extract/work-units.ts';
import { createTablesHasher, type TablesHasher } from '../fetch/item-files.ts';
import { shortHash } from '../../lib/hash.ts';
import type { Json } from '../../lib/json.ts';
import type { Extraction } from '../../sources/source.ts';

/** What the queue has of a unit. The rest is among the shared results, by its keys. */
export const unitJobSchema = z.object({
  run: z.string(),
  step: z.enum(['triage', 'light', 'extract']),
  /** The key of the unit's items. */
  unit: z.string(),
  /** The key of what the loops see of the project. */
  snapshot: z.string(),
  /** The queue of the answer. */
  replies: z.string(),
  /** US dollars that the run may spend, and the name of that limit; undefined without one. */
  limit: z.object({ usd: z.number(), key: z.string() }).optional(),
});
export type UnitJob = Readonly<z.infer<typeof unitJobSchema>>;

const failureSchema = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  retryable: z.boolean(),
  exitCode: z.literal([0, 1, 2, 3, 4, 130]),
});

/** What a worker says about a unit. What it read is among the shared results. */
export const unitReplySchema = z.object({
  unit: z.string(),
  step: unitJobSchema.shape.step,
  done: z.number(),
  calls: z.number(),
  failures: z.array(failureSchema),
  refused: z.array(
    z.object({ subject: z.string(), kind: z.literal('reading'), reason: z.string() }),
  ),
  /** No further call of the run can succeed. */
  isOver: z.boolean(),
});
export type UnitReply = Readonly<z.infer<typeof unitReplySchema>>;

/** An item without what only this process has. ktx wrote it, so its shape is known. */
interface SentItem extends Pick<
  PendingItem,
  'connection' | 'item' | 'unread' | 'key' | 'readingKey'
> {
  readonly extraction: Extraction | undefined;
}

/** The items of a unit as JSON. */
export function sendUnit({ items }: WorkUnit): Json {
  const sent = items.map(({ connection, item, unread, key, readingKey, extraction }): SentItem => {
    const mentions = extraction && { ...extraction, unread: [], problems: [], leftOut: [] };
    return { connection, item, unread, key, readingKey, extraction: mentions };
  });
  return JSON.parse(JSON.stringify(sent)) as Json;
}

export function receiveUnit(sent: Json, catalogs: readonly Catalog[]): PendingItem[] {
  const hashTables: TablesHasher = createTablesHasher(catalogs);
  return (sent as unknown as readonly SentItem[]).map((item) => ({
    ...item,
    slice: (claims: readonly Claim[]) => hashTables(item.extraction, claims),
  }));
}

/** Equal for equal work: nobody does it twice. */
export function unitKey(step: ReadingStep, { items }: WorkUnit): string {
  return `unit ${step} ${shortHash(items.map(({ key }) => key).join('\n'), 32)}`;
}

/** All that the journal may have of an item. */
export function journalKeys(item: PendingItem): readonly string[] {
  const { readingKey } = item;
  return [readingKey, brokenKey(item), attemptsKey(readingKey), triageKey(item)];
}
