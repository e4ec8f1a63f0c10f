import { noValues } from '../../llm/egress/sent-values.ts';
import { readPrompt } from '../../llm/prompt.ts';
import { LlmError } from '../../llm/port/error.ts';
import type { IngestModel } from '../model.ts';
import { showItems } from './show-items.ts';
import type { PendingItem } from './work-units.ts';

/** Raise it when the prompt changes. */
const triageVersion = 'triage@1';

/** How much reading a page deserves: none, one call, or a loop. */
export type PageVerdict = (typeof pageVerdicts)[number];
const pageVerdicts = ['skip', 'light', 'full'] as const;

/**
 * Decides by the text of a page. An answer that is no verdict counts as `full`; a failure of the
 * provider is thrown.
 */
export async function triagePage(
  page: PendingItem,
  { runtime }: IngestModel,
  signal: AbortSignal,
): Promise<PageVerdict> {
  try {
    const answer = await runtime.generateText({
      role: 'triage',
      stage: 'triage',
      values: noValues,
      system: readPrompt('triage-page'),
      prompt: `The page to sort:\n${showItems({ connection: page.connection, items: [page] })}`,
      temperature: 0,
      signal,
    });
    const [word] = answer.toLowerCase().match(/\b(skip|light|full)\b/) ?? [];
    return pageVerdicts.find((verdict) => verdict === word) ?? 'full';
  } catch (error) {
    if (error instanceof LlmError && error.kind === 'invalid_output') return 'full';
    throw error;
  }
}

/** The key of a verdict in the journal. */
export function triageKey({ key }: PendingItem): string {
  return `${triageVersion} ${key}`;
}

/** The verdict of an earlier run that did not publish. */
export function journaledVerdict(
  page: PendingItem,
  { journal }: Pick<IngestModel, 'journal'>,
): PageVerdict | undefined {
  const stored = journal.result(triageKey(page));
  return pageVerdicts.find((verdict) => verdict === stored);
}

/**
 * Whether an item is sorted at all. Notes are handed in to be read, and SQL is short and always
 * means something.
 */
export function needsTriage({ connection, unread }: PendingItem): boolean {
  return connection !== 'notes' && unread.every(({ what }) => what === 'prose');
}
