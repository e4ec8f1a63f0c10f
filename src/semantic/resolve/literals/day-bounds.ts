import { parseTime } from './time-literal.ts';
import type { LiteralTarget } from './typed-literal.ts';

/**
 * A note for each day that bounds a field with a time of day: of the day, only its first instant
 * counts. `texts` are the values behind `<=`, `>`, `=` and their like.
 */
export function noteDayBounds(
  notes: Set<string>,
  { name, type, grain }: LiteralTarget,
  texts: readonly unknown[],
): void {
  if ((type !== 'datetime' && type !== 'datetime_tz') || grain !== undefined) return;
  for (const text of texts) {
    if (typeof text !== 'string' || parseTime(text)?.precision !== 'day') continue;
    notes.add(
      `${name} has a time of day, so '${text}' means 00:00 of that day. For whole days, write ${name}.day`,
    );
  }
}
