import { LlmError } from '../../llm/port/error.ts';
import { readPrompt } from '../../llm/prompt.ts';
import type { IngestModel } from '../model.ts';
import { pictureOf } from './show-items.ts';
import type { PendingItem } from './work-units.ts';

/** Raise it when the prompt changes. */
const version = 'triage@1';

const verdicts = ['skip', 'light', 'full'] as const;
export type Verdict = (typeof verdicts)[number];

/** Where the verdict on a page is kept. */
export function triageKey({ key }: PendingItem): string {
  return `${version} ${key}`;
}

/** What was decided in an earlier run that did not come to its end. */
export function knownVerdict(item: PendingItem, { journal }: IngestModel): Verdict | undefined {
  const kept = journal.result(triageKey(item));
  return verdicts.find((verdict) => verdict === kept);
}

/** Only pages are worth sorting: a note is handed in to be read, and SQL is short and always means something. */
export function isSorted({ connection, unread }: PendingItem): boolean {
  return connection !== 'notes' && unread.every(({ what }) => what === 'prose');
}

/** How much reading a page deserves, by its text. What cannot be read as a verdict means `full`; a failure of the provider is thrown. */
export async function triage(
  item: PendingItem,
  { runtime }: IngestModel,
  signal: AbortSignal,
): Promise<Verdict> {
  try {
    const answer = await runtime.generateText({
      role: 'triage',
      system: readPrompt('triage-page'),
      prompt: `The page to sort:\n${pictureOf({ connection: item.connection, items: [item] })}`,
      temperature: 0,
      signal,
    });
    const [word] = answer.toLowerCase().match(/\b(skip|light|full)\b/) ?? [];
    return verdicts.find((verdict) => verdict === word) ?? 'full';
  } catch (error) {
    // The model answered, in no form that can be used.
    if (error instanceof LlmError && error.kind === 'invalid_output') return 'full';
    throw error;
  }
}
