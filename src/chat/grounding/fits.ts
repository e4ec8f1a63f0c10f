import type { Derivable } from './candidates.ts';
import { isCounted } from './columns.ts';
import { aboutWords, changeWords, downWords, restWords, upWords } from './numbers/number-words.ts';
import type { WrittenNumber } from './numbers/read-numbers.ts';

type NumberReading = WrittenNumber['readings'][number];

/** Tells whether a value is what a number in a statement says. */
export function fitsNumber(
  number: WrittenNumber,
  { statement, before }: { readonly statement: string; readonly before: string },
): (candidate: Derivable) => boolean {
  const isDown = downWords.test(statement);
  const isUp = upWords.test(statement);
  // Where one loss has its sign, all have.
  const writesMinus = /(?:^|[\s(|:])[-−][€$£]?\d/.test(statement);
  const nearest = nearness(number, aboutWords.test(before));
  const near = (value: number, reading: NumberReading) =>
    nearest(value, reading) || isJustBeside(value, reading, before);
  const hasSign = number.sign !== undefined;
  // Accounts put what is negative in brackets.
  const isAccounting = /\|\s*[*_]*\([€$£]?$/.test(before);
  const cellFits = (value: number, reading: NumberReading) =>
    near(value, reading) ||
    (((isDown && !writesMinus) || isAccounting) && !hasSign && near(-value, reading));
  const changeFits = (value: number, reading: NumberReading) => {
    if (hasSign) return near(value, reading);
    if (isUp !== isDown) return near(isUp ? value : -value, reading);
    return near(Math.abs(value), reading);
  };
  const isChange = isDown || isUp || hasSign || changeWords.test(statement);
  const isDoubled = number.sign === '-' && saysMinus(before, statement, number.text);
  // The sign of a difference stands where no word tells the direction.
  const isShown =
    /[(|:→,=]\s*[*_]*[€$£¥]?\s?$/.test(before) || !(isDown || isUp || moreWords.test(statement));
  const growthFits = (value: number, reading: NumberReading) =>
    number.isPercent && !isDoubled && isChange && changeFits(value, reading);
  const fits = (candidate: Derivable, reading: NumberReading) => {
    const { value, derivation = '' } = candidate;
    if (derivation.startsWith('(')) return growthFits(value, reading);
    if (!kindFits(number, candidate)) return false;
    if (isOneOperand(candidate, (operand) => near(operand, reading))) return false;
    if (hasSign && derivation.includes(' - ')) return isShown && !isDoubled && near(value, reading);
    if (hasSign && derivation === 'count of rows') return false;
    if (derivation !== '' && isBareShare(candidate, number, reading)) return false;
    return cellFits(value, reading);
  };
  return (candidate) =>
    number.readings.some((reading) => {
      if (!number.isPercent) return fits(candidate, reading);
      const { derivation, value } = candidate;
      const hundredfold = { ...candidate, value: value * 100 };
      if (fits(hundredfold, reading)) return true;
      // A share that is computed is a fraction; a cell may hold either.
      const isPercentage = derivation === undefined || !/\//.test(derivation);
      return isPercentage && fits(candidate, reading);
    });
}

/** `60 % fewer` has no minus, and neither has a gap or a rest. A cell of a table has one. */
export function saysMinus(before: string, statement: string, text: string): boolean {
  if (/[(|]\s*$/.test(before)) return false;
  const at = statement.indexOf(text);
  const behind = at < 0 ? '' : statement.slice(at + text.length, at + text.length + 14);
  const around = `${before.slice(-16)} ${behind.split(/[.,;(]/)[0] ?? ''}`;
  if (
    downWords.test(around) ||
    upWords.test(around) ||
    restWords.test(around) ||
    moreWords.test(around)
  )
    return true;
  if (/\b(?:gap|leaves?|over|under)(?!\p{L})/iu.test(statement)) return true;
  return !changeWords.test(statement) && !downWords.test(statement) && !fromTo.test(statement);
}

const moreWords = /(?<!\p{L})(?:more|mehr|más|mais|più|meer|fler|więcej)(?!\p{L})/iu;

export const fromTo =
  /(?<!\p{L})(?:from|von|de|da|van|från|od)(?!\p{L}).{1,60}(?<!\p{L})(?:to|auf|à|a|para|naar|till|do)(?!\p{L})|\d\s?(?:→|->|➔|⟶)\s?\P{L}{0,3}\d/iu;

/** `just over 72 %` is cut off, and `almost 73 %` is rounded up. */
function isJustBeside(value: number, reading: NumberReading, before: string): boolean {
  const over = Math.abs(value) - Math.abs(reading.value);
  if (justOver.test(before)) return over > 0 && over < reading.step;
  return justUnder.test(before) && over < 0 && -over < reading.step;
}

const justOver =
  /(?<!\p{L})(?:over|more than|above|knapp über|gut|etwas über|mehr als|plus de|más de|mais de|oltre|più di|meer dan|ruim|ponad|över)\s[€$£¥]?$/iu;
const justUnder =
  /(?<!\p{L})(?:under|almost|nearly|less than|below|fast|knapp|unter|presque|près de|casi|quase|quasi|bijna|prawie|nästan)\s[€$£¥]?$/iu;

/** Where one number is too small to be seen in a difference, the result is the other one. */
function isOneOperand(
  { derivation = '', operands = [] }: Derivable,
  isNear: (operand: number) => boolean,
): boolean {
  return /^[ab] [-+] [ab]$/.test(derivation) && operands.some(isNear);
}

/** A ratio of two numbers is written as such only with a digit behind the point, or as 2 times. */
function isBareShare(
  { kind, value }: Derivable,
  { isPercent }: WrittenNumber,
  { step }: NumberReading,
): boolean {
  return kind === 'share' && !isPercent && !(Math.abs(value) >= 1 && step <= 1);
}

/** A percentage is no amount, and an amount no count. */
function kindFits({ isPercent, isMoney }: WrittenNumber, candidate: Derivable): boolean {
  const { kind, cells } = candidate;
  if (isPercent) return kind === 'share' || isPartOfRow(candidate);
  if (!isMoney || kind === 'money' || kind === 'unknown') return true;
  return (
    kind === 'count' && cells.every(({ column }) => column !== undefined && !isCounted(column))
  );
}

/** A part of something that no name explains, in one row. */
function isPartOfRow({ kind, cells: [a, b], derivation = '', value }: Derivable): boolean {
  const isRatio = kind === 'unknown' && /^[ab] \/ [ab]$/.test(derivation);
  return isRatio && a?.row !== undefined && a.row === b?.row && Math.abs(value) <= 100;
}

/** True for what rounds to the reading. A number that is called rough may be off by its zeros. */
export function nearness({ text }: WrittenNumber, isRough: boolean) {
  const zeros = /[.,]\d*\D*$/.test(text.replaceAll(/[.,](?=\d{3}(?!\d))/g, ''))
    ? 0
    : (/0+(?=\D*$)/.exec(text)?.[0].length ?? 0);
  return (wanted: number, { value, step }: NumberReading): boolean => {
    const size = isRough ? step * 10 ** Math.min(zeros, 4) : step;
    const tolerance = size * (size > step ? 1 : 0.5) + Math.abs(wanted) * 1e-12;
    return Math.abs(wanted - value) <= tolerance;
  };
}
