import { UnreadableMetric } from '../spec/metric-spec.ts';

/** `7 days`, as ktx writes a period. */
export function parsePeriod(text: string): string {
  const [, count, unit] =
    /^(\d+) ?(second|minute|hour|day|week|month|quarter|year)s?$/.exec(text) ?? [];
  if (count === undefined) throw new UnreadableMetric(`ktx does not know the period ${text}`);
  return `${count} ${unit}${count === '1' ? '' : 's'}`;
}
