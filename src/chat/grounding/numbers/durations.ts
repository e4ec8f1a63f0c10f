import type { WrittenNumber } from './read-numbers.ts';

/** A length of time that is written with two units: `3 hours 5 minutes`. */
export interface Duration {
  readonly start: number;
  readonly end: number;
  /** In the smaller unit. */
  readonly value: number;
  /** The smaller unit in seconds. */
  readonly unit: number;
}

const unitLengths: readonly (readonly [words: RegExp, seconds: number])[] = [
  [
    /^\s?(?:d|days?|tage?n?|jours?|d[ií]as?|giorn[oi]|dagen|dni|日|天)(?!\p{Script=Latin})/iu,
    86_400,
  ],
  [
    /^\s?(?:h|hrs?|hours?|stunden?|std\.?|heures?|horas?|or[ae]|uur|uren|godz\p{L}*|timmar|時間|小时|시간)(?!\p{Script=Latin})/iu,
    3600,
  ],
  [/^\s?(?:m|min|mins|minut\p{L}*|分钟?|분)(?!\p{Script=Latin})/iu, 60],
  [/^\s?(?:s|secs?|seconds?|sekunden|secondes?|segundos?|秒)(?!\p{Script=Latin})/iu, 1],
];

/** The lengths of time of a text that two numbers tell together. */
export function findDurations(
  text: string,
  numbers: readonly WrittenNumber[],
): readonly Duration[] {
  return numbers.flatMap((large, index): Duration[] => {
    const small = numbers[index + 1];
    if (small === undefined || small.start - large.end > 16) return [];
    const [big, little] = [large, small].map((number) => unitBehind(text, number));
    if (big === undefined || little === undefined || big.seconds <= little.seconds) return [];
    const gap = text.slice(large.end + big.length, small.start);
    const ratio = big.seconds / little.seconds;
    const [many, few] = [large.readings[0]?.value ?? 0, small.readings[0]?.value ?? 0];
    if (!/^(?:,|\s|and|und|et|y|e|en|och|i)*$/iu.test(gap) || few >= ratio) return [];
    const value = many * ratio + few;
    return [{ start: large.start, end: small.end, value, unit: little.seconds }];
  });
}

function unitBehind(text: string, { end }: WrittenNumber) {
  const behind = text.slice(end, end + 14);
  return unitLengths
    .map(([words, seconds]) => ({ seconds, length: words.exec(behind)?.[0].length ?? 0 }))
    .find(({ length }) => length > 0);
}

/** True where a value in seconds, minutes, hours or days is as long. */
export function lasts({ value, unit }: Duration, wanted: number): boolean {
  return [0.001, 1, 60, 3600, 86_400].some(
    (seconds) => Math.abs((Math.abs(wanted) * seconds) / unit - value) <= 0.5 + 1e-9,
  );
}
