import type { Derivable } from './candidates.ts';
import { isCounted } from './columns.ts';
import { aboutWords, changeWords, downWords, restWords, upWords } from './numbers/number-words.ts';
import type { WrittenNumber } from './numbers/read-numbers.ts';
import { columnTime } from './values.ts';

type NumberReading = WrittenNumber['readings'][number];

interface NumberAround {
  readonly statement: string;
  /** The text right before the number. */
  readonly before: string;
  /** What stands above the number in a table. */
  readonly header?: string;
  /** The text in which other entries of a list may have their signs. */
  readonly listed?: string | undefined;
}

/** Tells whether a value is what a number in a statement says. */
export function fitsNumber(
  number: WrittenNumber,
  { statement, before, header = '', listed = statement }: NumberAround,
): (candidate: Derivable) => boolean {
  const { isUp, isDown, isLocal } = directionOf(number, statement);
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
  const isWrongMinus =
    number.sign === '-' && (isNoChange(header) || (!isLocal && saysOnlyUp(statement)));
  const growthFits = (candidate: Derivable, reading: NumberReading) => {
    if (hasSign && isOfMeasures(candidate, statement, header)) return false;
    if (!number.isPercent || isWrongMinus || isDoubled || !isChange) return false;
    return changeFits(candidate.value, reading);
  };
  const signedFits = ({ derivation, value }: Derivable, reading: NumberReading) =>
    derivation !== 'count of rows' &&
    !(isWrongMinus && derivation === 'b - a') &&
    isShown &&
    !isDoubled &&
    near(value, reading);
  const fits = (candidate: Derivable, reading: NumberReading) => {
    const { value, derivation = '' } = candidate;
    if (isCostLessRevenue(candidate)) return false;
    if (derivation.startsWith('(')) return growthFits(candidate, reading);
    if (!kindFits(number, candidate)) return false;
    if (isOneOperand(candidate, (operand) => near(operand, reading))) return false;
    if (hasSign && /^count of rows$| - /.test(derivation)) return signedFits(candidate, reading);
    if (derivation !== '' && isBareShare(candidate, number, reading)) return false;
    if (isTakenAway(number, candidate, listed)) return near(-value, reading);
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

/** What rose did not fall, unless signs tell what each number did. */
function saysOnlyUp(statement: string): boolean {
  const isUp = upWords.test(statement) && !downWords.test(statement);
  return isUp && !/[(\s]\+[€$£]?\d/.test(statement);
}

/** `-12 of 40`: what is a part is not negative. */
function isPartOfWhole(text: string, statement: string): boolean {
  const end = statement.indexOf(text) + text.length;
  return /^\s(?:\p{L}+\s)?(?:(?:out )?of|von|sur|dos|de|su|van|av|af|z|из)\s(?:the |all |den |les |los )?\p{L}?/iu.test(
    statement.slice(end),
  );
}

/** Two measures of a row are no change, unless something says so. */
function isOfMeasures({ cells: [a, b] }: Derivable, statement: string, header: string): boolean {
  const isOfRow =
    a?.row !== undefined && a.row === b?.row && columnTime(a.column ?? '') === undefined;
  if (!isOfRow || changeHeader.test(header)) return false;
  return ![downWords, upWords, changeWords, fromTo].some((words) => words.test(statement));
}

/** Nobody takes a revenue from its costs. */
export function isCostLessRevenue({ cells: [a, b], derivation = '', value }: Derivable): boolean {
  if (!/^(?:[ab] - [ab]|-\(b - a\))$/.test(derivation) || value >= 0) return false;
  const [isCost, isOtherCost] = [a, b].map((cell) => costName.test(cell?.column ?? ''));
  return isCost !== isOtherCost && (derivation === 'b - a' ? isOtherCost : isCost) === true;
}

const costName = /cost|cogs|expens|refund|spen[dt]|kosten|aufwand|co[uû]t|gasto|costi|custo/i;

/** A column that is of no change has no minus for one. */
export function isNoChange(header: string): boolean {
  return header !== '' && !changeHeader.test(header);
}

export const changeHeader =
  /Δ|±|\+\/|[-−]|^\s*%\s*$|diff|chang|vs|var|grow|yoy|mom|qoq|prev|prior|entwickl|veränd|abw|vorjahr|vormonat|[ée]vol|écart|cambio|scost|delta|gap|compar|trend|変|増減|変化|比|verschil|groei|zmian|förändr|wachstum|croiss|crec|cresc/iu;

/** The direction that the words right behind a number tell; else that of the statement. */
function directionOf(number: WrittenNumber, statement: string) {
  const behind = wordsRightBehind(number, statement);
  const [isMore, isLess] = [moreWords.test(behind), lessWords.test(behind)];
  if (isMore !== isLess) return { isUp: isMore, isDown: isLess, isLocal: true };
  return {
    isUp: upWords.test(statement),
    isDown: downWords.test(statement),
    isLocal: false,
  };
}

/** The words up to the next comma or number: `11 % more than`. */
function wordsRightBehind({ text }: WrittenNumber, statement: string): string {
  const at = statement.indexOf(text);
  const behind = at < 0 ? '' : statement.slice(at + text.length, at + text.length + 24);
  return /^[^,;.()\d]*/.exec(behind)?.[0] ?? '';
}

const lessWords =
  /(?<!\p{L})(?:less|fewer|weniger|moins|menos|meno|minder|färre|mindre|mniej)(?!\p{L})/iu;

/** What a bridge takes away is written with a minus, beside what it adds with a plus. */
function isTakenAway(
  { sign }: WrittenNumber,
  { cells: [cell], derivation }: Derivable,
  listed: string,
): boolean {
  const isBridge = sign === '-' && /\+[€$£]?\d(?![\d.,]*\s?%)/.test(listed);
  return isBridge && derivation === undefined && lossName.test(cell?.column ?? '');
}

const lossName =
  /churn|contraction|downgrade|lost|loss|refund|returned|discount|cancel|abgang|kündig|verlust|perte|pérdida|perdita/i;

/** `dropped by 9 %` and `9 more than` have no minus. */
function isAmountOfChange(text: string, statement: string, before: string): boolean {
  const behind = statement.slice(statement.indexOf(text) + text.length);
  return moreBehind.test(behind) || (byWords.test(before) && downWords.test(statement));
}

const byWords = /(?<!\p{L})(?:by|um|del|di|met|med|на)\s+$/iu;
const moreBehind =
  /^\s(?:\p{L}+\s)?(?:more|fewer|less|mehr|weniger|más|menos|plus|moins|daha (?:fazla|az))\s/iu;

/** `60 % fewer` has no minus, and neither has a gap or a rest. A cell of a table has one. */
export function saysMinus(before: string, statement: string, text: string): boolean {
  if (isPartOfWhole(text, statement)) return true;
  if (/[(|]\s*$/.test(before)) return false;
  if (isAmountOfChange(text, statement, before)) return true;
  // Where what grew has a plus, what fell has a minus.
  if (/[:→,]\s*$/.test(before) && /[(\s:→,|]\+[€$£]?\d/.test(statement)) return false;
  const at = statement.indexOf(text);
  const behind = at < 0 ? '' : statement.slice(at + text.length, at + text.length + 14);
  const around = `${before.slice(-16)} ${behind.split(/[.,;(]/)[0] ?? ''}`;
  if ([downWords, upWords, restWords, moreWords].some((words) => words.test(around))) return true;
  if (/\b(?:gap|leaves?|over|under)(?!\p{L})/iu.test(statement)) return true;
  return !changeWords.test(statement) && !downWords.test(statement) && !fromTo.test(statement);
}

export const moreWords = /(?<!\p{L})(?:more|mehr|más|mais|plus|più|meer|fler|więcej)(?!\p{L})/iu;

export const fromTo =
  /(?<!\p{L})(?:from|von|de|da|van|från|od)(?!\p{L}).{1,60}(?<!\p{L})(?:to|auf|à|a|para|naar|till|do)(?!\p{L})|\d\s?(?:→|->|➔|⟶)\s?\P{L}{0,3}\d/iu;

/** `just over 72 %` is cut off, and `almost 73 %` is rounded up. */
export function isJustBeside(value: number, reading: NumberReading, before: string): boolean {
  const over = Math.abs(value) - Math.abs(reading.value);
  if (isBound(value, reading, before)) return true;
  if (justOver.test(before)) return over > 0 && over < reading.step;
  return justUnder.test(before) && over < 0 && -over < reading.step;
}

/** `fewer than 1 %` and `more than 500`, with one digit that is not a zero. */
function isBound(value: number, { value: bound }: NumberReading, before: string): boolean {
  const ratio = value / bound;
  if (!/^[1-9]0*$/.test(String(Math.abs(bound)))) return false;
  if (moreThan.test(before)) return ratio > 1 && ratio < 1.25;
  return fewerThan.test(before) && ratio < 1 && ratio > 0.4;
}

export const moreThan =
  /(?<!\p{L})(?:more than|over|above|mehr als|über|plus de|más de|mais de|più di|oltre|meer dan|ponad|mer än)\s[€$£¥]?$/iu;
export const fewerThan =
  /(?<!\p{L})(?:fewer than|less than|under|below|weniger als|unter|moins de|menos de|meno di|minder dan|mniej niż|mindre än)\s[€$£¥]?$/iu;

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
  const isOfOne = a !== undefined && a.query === b?.query && a.row === b.row;
  return isRatio && isOfOne && Math.abs(value) <= 100;
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
