import { nearness } from '../fits.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';
import type { Statement } from '../statements.ts';

/** A number that an answer has said and that is bound. */
export interface SaidBefore {
  readonly number: WrittenNumber;
  readonly statement: Statement;
  /** As exactly as the evidence has it, as it would be written. */
  readonly value: number;
}

/**
 * True for what an answer says once more, exactly or rounded: `13 months of runway`, where a list
 * below computes 13.4 months. It has so many digits, the same word behind it, or the name of its
 * row of a table before it, that this is no coincidence.
 */
export function isRestated(
  number: WrittenNumber,
  statement: Statement,
  { number: said, statement: place, value }: SaidBefore,
): boolean {
  if (statement === place || !hasSameValue(number, said, value)) return false;
  const digits = number.text.replaceAll(/\D/g, '').replace(/^0+/, '').length;
  const isSame = number.text.toLowerCase() === said.text.toLowerCase();
  // `Nine of the fourteen schools joined. The nine schools have …`
  const isWord = isSame && value > 2 && !/\d/.test(number.text);
  const hasTenths = isSame && digits > 1 && /[.,]\d/.test(number.text);
  return [
    digits > 2,
    isWord,
    hasTenths,
    hasSameUnit(number, statement, { number: said, place }),
    isOfRow(statement, place),
  ].includes(true);
}

function hasSameValue(number: WrittenNumber, said: WrittenNumber, value: number): boolean {
  if (number.isPercent !== said.isPercent || number.isYear) return false;
  if (number.sign !== undefined && number.sign !== said.sign) return false;
  const near = nearness(number, false);
  const written = number.sign === undefined ? Math.abs(value) : value;
  return number.readings.some((reading) => near(written, reading));
}

/** `13 months` and `13.4 months`. */
function hasSameUnit(
  number: WrittenNumber,
  statement: Statement,
  { number: said, place }: { readonly number: WrittenNumber; readonly place: Statement },
): boolean {
  const [unit, other] = [unitBehind(statement, number), unitBehind(place, said)];
  return unit !== undefined && unit === other;
}

function unitBehind({ text, start }: Statement, { end }: WrittenNumber): string | undefined {
  return /^\s?(?:\p{L}+\s){0,2}?(\p{L}{4,})/u.exec(text.slice(end - start))?.[1]?.toLowerCase();
}

/** `Revenue per order rose 8%` is of the row `Revenue per order`. */
function isOfRow({ text }: Statement, { cells, text: row, start }: Statement): boolean {
  const [first] = cells;
  const label = first && row.slice(first.start - start, first.end - start).trim();
  return (
    label !== undefined &&
    /\p{L}{4}/u.test(label) &&
    text.toLowerCase().includes(label.toLowerCase())
  );
}
