import { z } from 'zod';

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** A duration as people write it: `90s`, `2m`, `1h`. */
export const durationSchema = z
  .string()
  .regex(/^\d{1,6}(?:\.\d+)?\s*(?:ms|s|m|h)$/, 'a duration is a number and a unit: 90s, 2m, 1h');

/** Milliseconds of a text that fits `durationSchema`. */
export function durationMs(text: string): number {
  const [, count, unit = 's'] = /^([\d.]+)\s*(ms|s|m|h)$/.exec(text) ?? [];
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}
