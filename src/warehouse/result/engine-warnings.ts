import { formatCount } from '../../lib/format-count.ts';

const maxWarnings = 8;
const maxLength = 300;

/**
 * What an engine said about a result, ready to show: each message once, with how often it came, and
 * without characters that a terminal obeys. A message can quote values of the data.
 */
export function summarizeWarnings(messages: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const message of messages) {
    const text = message.replaceAll(/\p{C}+/gu, ' ').slice(0, maxLength);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const texts = [...counts].map(([text, count]) =>
    count === 1 ? text : `${text} (${count} times)`,
  );
  const more = texts.length - maxWarnings;
  return more > 0
    ? [...texts.slice(0, maxWarnings), `${formatCount(more, 'more warning')}.`]
    : texts;
}
