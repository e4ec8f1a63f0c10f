import { readNumbers } from '../numbers/read-numbers.ts';
import type { SaidNumber } from './coincidence.ts';

/** A sum is shared out by these words. */
export const eachWords =
  /(?<!\p{L})(?:each|every|apiece|jeweils|je|chacune?|chaque|cada|ciascun\p{L}*|ogni|elk|varje|każd\p{L}*)(?!\p{L})|ずつ|每/iu;

/** The small counts that stand beside a number: `five weekdays average 1,743 orders each`. */
export function countsIn({ number, said }: Pick<SaidNumber, 'number' | 'said'>): readonly number[] {
  const counts = readNumbers(said).flatMap(({ text, readings: [reading], isPercent }) => {
    const { value, step } = reading ?? { value: 0, step: 1 };
    const isCount = step === 1 && value > 1 && value <= 12;
    return isCount && !isPercent && text !== number.text ? [value] : [];
  });
  return [...new Set(counts)];
}
